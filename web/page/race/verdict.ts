// The verdict of a race, in sentences.

import { figure } from "../format.ts";

/** The result of a runner. */
export interface Result {
  readonly name: string;
  readonly mean_ms: number;
  readonly max_ms: number;
  readonly energy_j: number;
}

/** Energies that differ by less than this share are called the same. */
const SAME = 0.02;

/** Which runner has the shortest mean response time, which the shortest longest one, and which takes least energy. */
export function verdict(results: readonly Result[]): string {
  const least = (of: (each: Result) => number) => results.reduce((best, each) => (of(each) < of(best) ? each : best));
  const [mean, fair, frugal] = [least((each) => each.mean_ms), least((each) => each.max_ms), least((each) => each.energy_j)];
  const soonest = `${mean.name} answers soonest on average, in ${figure(mean.mean_ms)} ms`;
  const longest = mean === fair ? `, and its longest answer is the shortest too, ${figure(fair.max_ms)} ms`
    : `, but its longest answer takes ${figure(mean.max_ms)} ms; that of ${fair.name} takes ${figure(fair.max_ms)} ms`;
  const most_j = Math.max(...results.map((each) => each.energy_j));
  const energy = most_j - frugal.energy_j <= SAME * most_j ? `All take about the same energy, ${figure(most_j)} J.`
    : `${frugal.name} takes least energy, ${figure(frugal.energy_j)} J.`;
  return `${soonest}${longest}. ${energy}`;
}
