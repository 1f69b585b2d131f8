// Mean waiting times of requests by their place on the device: they show whether a scheduler neglects the edges.

import type { Rows } from "../../core/types.ts";

/** Columns that `waitByPlace` reads. */
export const PLACE_COLUMNS = ["lbn", "arrival_ns", "start_ns"] as const;

/** Mean time from arrival to start in ms, for equal parts of the addresses; null for a part without requests. */
export function waitByPlace(rows: Rows, capacity_blocks: number, parts: number): (number | null)[] {
  const sum = new Float64Array(parts);
  const count = new Float64Array(parts);
  for (let row = 0; row < rows.lbn.length; row++) {
    const part = Math.min(parts - 1, Math.floor((rows.lbn[row]! / capacity_blocks) * parts));
    sum[part]! += (rows.start_ns[row]! - rows.arrival_ns[row]!) / 1e6;
    count[part]! += 1;
  }
  return Array.from(sum, (each, part) => (count[part]! > 0 ? each / count[part]! : null));
}

/** Puts curves with x axes of their own on one axis: the axis has every x, and each curve has a y at it, or null. */
export function alignCurves(curves: readonly { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> }[]): (number | null)[][] {
  const axis = [...new Set(curves.flatMap(({ x }) => Array.from(x)))].sort((one, other) => one - other);
  const at = new Map(axis.map((value, index) => [value, index]));
  const lines = curves.map(({ x, y }) => {
    const line: (number | null)[] = axis.map(() => null);
    for (let index = 0; index < x.length; index++) line[at.get(x[index]!)!] = y[index]!;
    return interpolateGaps(axis, line);
  });
  return [axis, ...lines];
}

/** Fills the gaps of a curve along straight lines between its values: the common axis has values of x that the curve lacks. */
function interpolateGaps(axis: readonly number[], line: (number | null)[]): (number | null)[] {
  let before = -1;
  for (let index = 0; index < line.length; index++) {
    if (line[index] === null) continue;
    for (let gap = before + 1; before >= 0 && gap < index; gap++) {
      const share = (axis[gap]! - axis[before]!) / (axis[index]! - axis[before]!);
      line[gap] = line[before]! + (line[index]! - line[before]!) * share;
    }
    before = index;
  }
  return line;
}
