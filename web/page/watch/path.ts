// The position of a mechanism at any instant of a window, interpolated between samples that the core computes.

import type { Positions } from "../../core/types.ts";
import { partitionPoint, type Window } from "./window.ts";

/** Intervals between the samples of an access. The core's path is smooth: between neighbors of 25 samples a straight line is off by less than a pixel. */
const SAMPLE_INTERVALS = 24;

/** Times, ascending, for which the core returns positions of a station. */
export function sampleTimes(window: Window, station: number): number[] {
  const { start_ns, end_ns } = window.data.accesses;
  const times_ns = [window.from_ns];
  for (const row of window.trail(window.to_ns, station, Infinity)) {
    const [start, end] = [start_ns[row]!, Math.min(end_ns[row]!, window.to_ns)];
    if (start < times_ns[times_ns.length - 1]!) continue;
    for (let interval = 0; interval <= SAMPLE_INTERVALS; interval++) times_ns.push(start + ((end - start) * interval) / SAMPLE_INTERVALS);
  }
  times_ns.push(window.to_ns);
  return times_ns;
}

export class Path {
  constructor(private readonly times_ns: readonly number[], private readonly positions: Positions) {}

  /** The position at an instant, and the direction along y. */
  position(t: number): { x: number; y: number; direction: 1 | -1 } {
    const { x, y } = this.positions;
    const nextIndex = Math.min(this.times_ns.length - 1, Math.max(1, partitionPoint(this.times_ns.length, (index) => this.times_ns[index]! > t)));
    const [from, to] = [this.times_ns[nextIndex - 1]!, this.times_ns[nextIndex]!];
    const share = to > from ? Math.max(0, Math.min(1, (t - from) / (to - from))) : 1;
    const interpolate = (values: Float64Array) => values[nextIndex - 1]! + (values[nextIndex]! - values[nextIndex - 1]!) * share;
    return { x: interpolate(x), y: interpolate(y), direction: this.direction(nextIndex) };
  }

  /** Samples between two instants, to draw a trail. */
  samples(from: number, to: number): readonly (readonly [x: number, y: number])[] {
    const first = partitionPoint(this.times_ns.length, (index) => this.times_ns[index]! >= from);
    const last = partitionPoint(this.times_ns.length, (index) => this.times_ns[index]! > to);
    return Array.from({ length: Math.max(0, last - first) }, (_, nth) => [this.positions.x[first + nth]!, this.positions.y[first + nth]!]);
  }

  private direction(nextIndex: number): 1 | -1 {
    for (let index = nextIndex; index > 0; index--) {
      const change = this.positions.y[index]! - this.positions.y[index - 1]!;
      if (change !== 0) return change > 0 ? 1 : -1;
    }
    return 1;
  }
}
