// The result of a race in sentences.

import { figure } from "../format.ts";

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
const SAME = 0.02;

const LIST = new Intl.ListFormat("en");

/** Which runners are overloaded, and how the others compare. */
export function verdict(results: readonly Result[]): string {
  const [steady, late] = [false, true].map((late) => results.filter(({ saturated }) => saturated === late)) as [Result[], Result[]];
  const because = "so response times depend on the length of the run";
  if (steady.length === 0) return `All runners are overloaded: their queues kept growing, ${because}.`;
  const names = LIST.format(late.map(({ name }) => name));
  if (late.length === 0) return comparison(steady, "All");
  const warning = late.length === 1 ? `${names} is overloaded: its queue kept growing, ${because}.` : `${names} are overloaded: their queues kept growing, ${because}.`;
  return steady.length === 1 ? `${alone(steady[0]!)} ${warning}` : `${warning} Of the others, ${comparison(steady, "They")}`;
}

function alone({ name, mean_ms, max_ms }: Result): string {
  return `Only ${name} keeps up: it answers in ${figure(mean_ms)} ms on average, and in ${figure(max_ms)} ms at most.`;
}

/** Which runner has the shortest mean response time, which the shortest longest one, and which takes least energy. `all` names the runners. */
function comparison(results: readonly Result[], all: string): string {
  const least = (of: (each: Result) => number) => results.reduce((best, each) => (of(each) < of(best) ? each : best));
  const [mean, fair, frugal] = [least((each) => each.mean_ms), least((each) => each.max_ms), least((each) => each.energy_j)];
  const soonest = `${mean.name} answers soonest on average, in ${figure(mean.mean_ms)} ms`;
  const longest = mean === fair ? `, and its longest answer is the shortest too, ${figure(fair.max_ms)} ms`
    : `, but its longest answer takes ${figure(mean.max_ms)} ms; that of ${fair.name} takes ${figure(fair.max_ms)} ms`;
  const max_j = Math.max(...results.map((each) => each.energy_j));
  const energy = max_j - frugal.energy_j <= SAME * max_j ? `${all} take about the same energy, ${figure(max_j)} J.`
    : `${frugal.name} takes least energy, ${figure(frugal.energy_j)} J.`;
  return `${soonest}${longest}. ${energy}`;
}
