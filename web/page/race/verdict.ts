// The result of a race in sentences.

import { formatNumber } from "../format.ts";

/** The result of a runner. */
export interface Result {
  readonly name: string;
  readonly mean_ms: number;
  readonly max_ms: number;
  readonly energy_j: number;
  /** Whether its queue kept growing: its response times then depend on the length of the run. */
  readonly isSaturated: boolean;
}

/** Energies that differ by less than this share are called the same. */
const ENERGY_TOLERANCE = 0.02;

const LIST_FORMAT = new Intl.ListFormat("en");

/** Which runners are overloaded, and how the others compare. */
export function verdict(results: readonly Result[]): string {
  const [steadyResults, overloadedResults] = [false, true].map((isOverloaded) => results.filter(({ isSaturated }) => isSaturated === isOverloaded)) as [Result[], Result[]];
  const reason = "so response times depend on the length of the run";
  if (steadyResults.length === 0) return `All runners are overloaded: their queues kept growing, ${reason}.`;
  const overloadedNames = LIST_FORMAT.format(overloadedResults.map(({ name }) => name));
  if (overloadedResults.length === 0) return compareRunners(steadyResults, "All");
  const warning = overloadedResults.length === 1 ? `${overloadedNames} is overloaded: its queue kept growing, ${reason}.` : `${overloadedNames} are overloaded: their queues kept growing, ${reason}.`;
  return steadyResults.length === 1 ? `${describeSteadyRunner(steadyResults[0]!)} ${warning}` : `${warning} Of the others, ${compareRunners(steadyResults, "They")}`;
}

function describeSteadyRunner({ name, mean_ms, max_ms }: Result): string {
  return `Only ${name} keeps up: it answers in ${formatNumber(mean_ms)} ms on average, and in ${formatNumber(max_ms)} ms at most.`;
}

/** Which runners have the shortest mean response time, which the shortest longest one, and which takes least energy. `all` names the runners. */
function compareRunners(results: readonly Result[], allName: string): string {
  const [soonest, fairest] = [leastBy(results, (each) => each.mean_ms), leastBy(results, (each) => each.max_ms)];
  const mostFrugal = results.reduce((best, each) => (each.energy_j < best.energy_j ? each : best));
  const max_j = Math.max(...results.map((each) => each.energy_j));
  const energySentence = max_j - mostFrugal.energy_j <= ENERGY_TOLERANCE * max_j ? `${allName} take about the same energy, ${formatNumber(max_j)} J.`
    : `${mostFrugal.name} takes least energy, ${formatNumber(mostFrugal.energy_j)} J.`;
  return `${describeMean(soonest, results.length, allName)}${describeLongest(soonest, fairest, results.length)}. ${energySentence}`;
}

/** The results with the least value; values that are shown as the same number are the same. */
function leastBy(results: readonly Result[], valueOf: (each: Result) => number): Result[] {
  const least = formatNumber(Math.min(...results.map(valueOf)));
  return results.filter((each) => formatNumber(valueOf(each)) === least);
}

function describeMean(soonest: readonly Result[], count: number, allName: string): string {
  const meanText = `in ${formatNumber(soonest[0]!.mean_ms)} ms`;
  if (soonest.length === count && count > 1) return `${allName} answer ${meanText} on average`;
  return `${LIST_FORMAT.format(soonest.map(({ name }) => name))} ${soonest.length > 1 ? "answer" : "answers"} soonest on average, ${meanText}`;
}

function describeLongest(soonest: readonly Result[], fairest: readonly Result[], count: number): string {
  const shortestText = `${formatNumber(fairest[0]!.max_ms)} ms`;
  if (fairest.length === count && count > 1) return `, and the longest answer of each takes ${shortestText}`;
  const [their, answer, is, takes] = soonest.length > 1 ? ["their", "answers", "are", "take"] : ["its", "answer", "is", "takes"];
  if (soonest.every((each) => fairest.includes(each))) return `, and ${their} longest ${answer} ${is} the shortest too, ${shortestText}`;
  const longestTexts = [...new Set(soonest.map(({ max_ms }) => `${formatNumber(max_ms)} ms`))];
  return `, but ${their} longest ${answer} ${takes} ${LIST_FORMAT.format(longestTexts)}; that of ${LIST_FORMAT.format(fairest.map(({ name }) => name))} takes ${shortestText}`;
}
