// The speed of simulated time relative to the reader's time.

import { formatNumber } from "../format.ts";

/** Simulated seconds per second of the reader, slowest first; the last is as fast as the core simulates. */
export const SPEEDS: readonly number[] = [
  1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10, Infinity,
];

/** The speed at first: a reader can follow every move. */
export const DEFAULT_SPEED_INDEX = SPEEDS.indexOf(1e-3);

/** A speed in words. */
export function formatSpeed(speed: number): string {
  if (speed === Infinity) return "as fast as it goes";
  const [value, unit] = speed >= 1 ? [speed, "s"] : speed >= 1e-3 ? [speed * 1e3, "ms"] : [speed * 1e6, "µs"];
  return `${Number(formatNumber(value))} ${unit}/s`;
}

/** Simulated time that a frame of `elapsed_ms` advances, in ns; bounded, so that a tab that slept does not leap. */
export function advance(speed: number, elapsed_ms: number): number {
  return speed * Math.min(elapsed_ms, 100) * 1e6;
}

/** Simulated time on each side of the present in the lanes, in ns: two seconds of playing at a speed, bounded. */
export function halfSpan_ns(speed: number): number {
  return Math.min(1e9, Math.max(2e6, Math.min(speed, 1) * 2e9));
}
