// The result of a race in sentences.

import { formatNumber } from "../format.ts";

/** The result of a runner. */
export interface Result {
  readonly name: string;
  readonly mean_ms: number;
  readonly max_ms: number;
  readonly energy_j: number;
  /** Whether its queue kept growing: its response times then depend on the length of the run. */
  readonly saturated: boolean;
}

/** Energies that differ by less than this share are called the same. */
const ENERGY_TOLERANCE = 0.02;

const LIST_FORMAT = new Intl.ListFormat("en");

/** Which runners are overloaded, and how the others compare. */
export function verdict(results: readonly Result[]): string {
  const [steady, late] = [false, true].map((late) => results.filter(({ saturated }) => saturated === late)) as [Result[], Result[]];
  const because = "so response times depend on the length of the run";
  if (steady.length === 0) return `All runners are overloaded: their queues kept growing, ${because}.`;
  const names = LIST_FORMAT.format(late.map(({ name }) => name));
  if (late.length === 0) return compareRunners(steady, "All");
  const warning = late.length === 1 ? `${names} is overloaded: its queue kept growing, ${because}.` : `${names} are overloaded: their queues kept growing, ${because}.`;
  return steady.length === 1 ? `${describeSteadyRunner(steady[0]!)} ${warning}` : `${warning} Of the others, ${compareRunners(steady, "They")}`;
}

function describeSteadyRunner({ name, mean_ms, max_ms }: Result): string {
  return `Only ${name} keeps up: it answers in ${formatNumber(mean_ms)} ms on average, and in ${formatNumber(max_ms)} ms at most.`;
}

/** Which runner has the shortest mean response time, which the shortest longest one, and which takes least energy. `all` names the runners. */
function compareRunners(results: readonly Result[], all: string): string {
  const minBy = (of: (each: Result) => number) => results.reduce((best, each) => (of(each) < of(best) ? each : best));
  const [mean, fair, frugal] = [minBy((each) => each.mean_ms), minBy((each) => each.max_ms), minBy((each) => each.energy_j)];
  const soonest = `${mean.name} answers soonest on average, in ${formatNumber(mean.mean_ms)} ms`;
  const longest = mean === fair ? `, and its longest answer is the shortest too, ${formatNumber(fair.max_ms)} ms`
    : `, but its longest answer takes ${formatNumber(mean.max_ms)} ms; that of ${fair.name} takes ${formatNumber(fair.max_ms)} ms`;
  const max_j = Math.max(...results.map((each) => each.energy_j));
  const energy = max_j - frugal.energy_j <= ENERGY_TOLERANCE * max_j ? `${all} take about the same energy, ${formatNumber(max_j)} J.`
    : `${frugal.name} takes least energy, ${formatNumber(frugal.energy_j)} J.`;
  return `${soonest}${longest}. ${energy}`;
}
