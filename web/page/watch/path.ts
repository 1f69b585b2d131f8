// The position of a mechanism at any instant of a window, interpolated between samples that the core computes.

import type { Positions } from "../../core/types.ts";
import { partitionPoint, type Window } from "./window.ts";

/** Intervals between the samples of an access. The core's path is smooth: between neighbors of 25 samples a straight line is off by less than a pixel. */
const SAMPLE_INTERVALS = 24;

/** Times, ascending, for which the core returns positions of a station. */
export function sampleTimes(window: Window, station: number): number[] {
  const { start_ns, end_ns } = window.data.accesses;
  const times = [window.from];
  for (const row of window.trail(window.to, station, Infinity)) {
    const [start, end] = [start_ns[row]!, Math.min(end_ns[row]!, window.to)];
    if (start < times[times.length - 1]!) continue;
    for (let nth = 0; nth <= SAMPLE_INTERVALS; nth++) times.push(start + ((end - start) * nth) / SAMPLE_INTERVALS);
  }
  times.push(window.to);
  return times;
}

export class Path {
  constructor(private readonly at: readonly number[], private readonly places: Positions) {}

  /** The position at an instant, and the direction along y. */
  position(t: number): { x: number; y: number; direction: 1 | -1 } {
    const { x, y } = this.places;
    const after = Math.min(this.at.length - 1, Math.max(1, partitionPoint(this.at.length, (index) => this.at[index]! > t)));
    const [from, to] = [this.at[after - 1]!, this.at[after]!];
    const share = to > from ? Math.max(0, Math.min(1, (t - from) / (to - from))) : 1;
    const interpolate = (values: Float64Array) => values[after - 1]! + (values[after]! - values[after - 1]!) * share;
    return { x: interpolate(x), y: interpolate(y), direction: this.direction(after) };
  }

  /** Samples between two instants, to draw a trail. */
  samples(from: number, to: number): readonly (readonly [x: number, y: number])[] {
    const first = partitionPoint(this.at.length, (index) => this.at[index]! >= from);
    const last = partitionPoint(this.at.length, (index) => this.at[index]! > to);
    return Array.from({ length: Math.max(0, last - first) }, (_, nth) => [this.places.x[first + nth]!, this.places.y[first + nth]!]);
  }

  private direction(after: number): 1 | -1 {
    for (let index = after; index > 0; index--) {
      const moved = this.places.y[index]! - this.places.y[index - 1]!;
      if (moved !== 0) return moved > 0 ? 1 : -1;
    }
    return 1;
  }
}
