// Mean waiting times of requests by their place on the device: they show whether a scheduler neglects the edges.

import type { Rows } from "../../core/types.ts";

/** Columns that `waitByPlace` reads. */
export const PLACE_COLUMNS = ["id", "lbn", "arrival_ns", "start_ns"] as const;

/**
 * Mean time from arrival to start in ms, for equal parts of the addresses; null for a part without requests. Requests with smaller
 * numbers than `firstCounted` do not count.
 */
export function waitByPlace(rows: Rows, capacity_blocks: number, partCount: number, firstCounted = 0): (number | null)[] {
  const sums_ms = new Float64Array(partCount);
  const counts = new Float64Array(partCount);
  for (let row = 0; row < rows.lbn.length; row++) {
    if (rows.id[row]! < firstCounted) continue;
    const part = Math.min(partCount - 1, Math.floor((rows.lbn[row]! / capacity_blocks) * partCount));
    sums_ms[part]! += (rows.start_ns[row]! - rows.arrival_ns[row]!) / 1e6;
    counts[part]! += 1;
  }
  return Array.from(sums_ms, (sum_ms, part) => (counts[part]! > 0 ? sum_ms / counts[part]! : null));
}

/** A curve with an x axis of its own, ascending. */
export interface XyCurve {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number | null>;
}

/** Puts curves with x axes of their own on one axis: the axis has every x, and each curve has a y at it, or null outside of its range. */
export function alignCurves(curves: readonly XyCurve[]): (number | null)[][] {
  return align(curves, (previous, next, share) => previous + (next - previous) * share);
}

/** The same for curves of steps, which keep their value until the next step, and the last one to the end of the axis. */
export function alignSteps(curves: readonly XyCurve[]): (number | null)[][] {
  const [axis, ...lines] = align(curves, (previous) => previous) as [number[], ...(number | null)[][]];
  for (const line of lines) {
    const last = line.findLastIndex((value) => value !== null);
    if (last >= 0) line.fill(line[last]!, last);
  }
  return [axis, ...lines];
}

/** Puts curves on one axis; `interpolate` returns the value at a share of the way from one value of a curve to the next. */
function align(curves: readonly XyCurve[], interpolate: (previous: number, next: number, share: number) => number): (number | null)[][] {
  const axis = [...new Set(curves.flatMap(({ x }) => Array.from(x)))].sort((one, other) => one - other);
  const indexByX = new Map(axis.map((value, index) => [value, index]));
  const lines = curves.map(({ x, y }) => {
    const line: (number | null)[] = axis.map(() => null);
    for (let index = 0; index < x.length; index++) line[indexByX.get(x[index]!)!] = y[index]!;
    return fillGaps(axis, line, interpolate);
  });
  return [axis, ...lines];
}

/** Fills the gaps between the values of a curve: the common axis has values of x that the curve lacks. */
function fillGaps(axis: readonly number[], line: (number | null)[], interpolate: (previous: number, next: number, share: number) => number): (number | null)[] {
  let lastKnown = -1;
  for (let index = 0; index < line.length; index++) {
    if (line[index] === null) continue;
    for (let gap = lastKnown + 1; lastKnown >= 0 && gap < index; gap++) {
      line[gap] = interpolate(line[lastKnown]!, line[index]!, (axis[gap]! - axis[lastKnown]!) / (axis[index]! - axis[lastKnown]!));
    }
    lastKnown = index;
  }
  return line;
}
