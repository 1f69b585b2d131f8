// What came of a race, in a sentence.

import { figure } from "../format.ts";

/** How somebody did. */
export interface Result {
  readonly name: string;
  readonly mean_ms: number;
  readonly max_ms: number;
  readonly energy_j: number;
}

/** Energies that are closer together than this, as a share, are called the same. */
const SAME = 0.02;

/** Who answers soonest, who has nobody wait long, and what it takes. */
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
