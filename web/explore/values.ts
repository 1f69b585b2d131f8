// The values that panels show, and those that decide claims: means over the seeds of runs.

import type { Claim, Criterion, Labels, Panel, Range } from "./description.ts";
import type { Row } from "./runs.ts";

/** A value at a place of the x axis. */
export interface Dot {
  readonly x: string | number;
  readonly y: number;
  readonly isOverloaded: boolean;
}

export type Series = ReadonlyMap<string, readonly Dot[]>;

/** Outcome of a claim for the runs of the page. */
export interface Judgment {
  readonly outcome: "met" | "nearly met" | "direction only" | "not met" | "no value";
  /** The least and the greatest value, with their unit. */
  readonly text: string;
}

const MOST = 0.75;
const NEARLY_ALL = 0.9;

/** A value as declarations name it: 8 for both 8.0 and "8". */
export function label(value: unknown): string {
  const number = Number(value);
  return value === "" || typeof value === "boolean" || !Number.isFinite(number) ? String(value) : String(Number(number.toPrecision(6)));
}

/** The parts of a panel with their columns: one without a name, or those of a stack. */
export function panelParts({ y }: Panel): (readonly [name: string, column: string])[] {
  return typeof y === "string" ? [["", y]] : Object.entries(y);
}

/** The values of a panel, or of a column of it, by series, each ordered by x where that is a number. */
export function panelSeries(panel: Panel, rows: readonly Row[], column = panelParts(panel)[0]![1]): Series {
  const chosen = rows.filter((row) => (panel.places.length === 0 || panel.places.includes(row.place)) && hasLabels(row, panel.where));
  const groups = groupBy(chosen, (row) => JSON.stringify([panel.series ? label(row.labels[panel.series]) : "", caseKey(row)]));
  const series = new Map<string, Dot[]>();
  for (const group of groups.values()) {
    const name = panel.series ? label(group[0]!.labels[panel.series]) : "";
    const x = panel.x in group[0]!.labels ? (group[0]!.labels[panel.x] as string | number) : mean(group.map((row) => row.values[panel.x]!));
    const y = mean(group.map((row) => column.split(" + ").reduce((sum, name) => sum + row.values[name]!, 0)));
    append(series, name, { x, y, isOverloaded: group.some((row) => row.isOverloaded) });
  }
  for (const dots of series.values()) if (dots.every(({ x }) => typeof x === "number")) dots.sort((one, other) => Number(one.x) - Number(other.x));
  const names = panel.series && Object.keys(panel.names).length > 0 ? Object.keys(panel.names) : [...series.keys()];
  return new Map(names.flatMap((name) => (series.has(name) ? [[name, series.get(name)!] as const] : [])));
}

/** Judges a claim by its criteria; null where it has none. */
export function judge(claim: Claim, rows: readonly Row[]): Judgment | null {
  if (claim.criteria.length === 0) return null;
  const judged = claim.criteria.map((criterion) => ({ criterion, values: criterionValues(criterion, rows) }));
  const all = judged.flatMap(({ values }) => values);
  if (all.length === 0) return { outcome: "no value", text: "no value at this size" };
  const { unit = "", scale = 1 } = claim.criteria[0]!;
  const bounds = [Math.min(...all), Math.max(...all)].map((value) => (scale === 1 && unit ? value.toPrecision(3) : (100 * value).toFixed(1)));
  const text = `${[...new Set(bounds)].join(" to ")} ${unit || "%"}`;
  const { criterion } = judged[0]!;
  const inside = judged.flatMap(({ criterion: { within }, values }) => values.filter((value) => isInside(value, within)));
  const outcome = criterion.scale === undefined ? outcomeOfShare(inside.length / all.length) : judgeNumber(criterion, criterion.scale, all);
  return { outcome: (outcome === "met" || outcome === "nearly met") && criterion.at_most ? criterion.at_most : outcome, text };
}

/** Judges comparisons: all of them, nine of ten, or more than half. */
function outcomeOfShare(share: number): Judgment["outcome"] {
  return share === 1 ? "met" : share >= NEARLY_ALL ? "nearly met" : share > 0.5 ? "direction only" : "not met";
}

/** Judges values by the rules of `PrintedNumber` in Python. */
function judgeNumber({ form, within, near, is_strict = false, takes_largest }: Criterion, scale: number, values: readonly number[]): Judgment["outcome"] {
  const scaled = (takes_largest ? [Math.max(...values)] : values).map((value) => value * scale);
  const share = (range: Range) => scaled.filter((value) => isInside(value, range, is_strict)).length / scaled.length;
  if (share(within) === 1) return "met";
  const hasDirection = values.filter((value) => value > (form === "ratio" ? 1 : 0)).length > values.length / 2;
  if (!hasDirection) return "not met";
  const isNear = near ? share(near) === 1 : share(within) >= MOST && isInside(mean(scaled), within, is_strict);
  return isNear ? "nearly met" : "direction only";
}

function isInside(value: number, [low, high]: Range, isStrict = false): boolean {
  return isStrict ? value > (low ?? -Infinity) && value < (high ?? Infinity) : value >= (low ?? -Infinity) && value <= (high ?? Infinity);
}

/** The values that decide a criterion. */
export function criterionValues(criterion: Criterion, rows: readonly Row[]): number[] {
  const chosen = rows.filter((row) => hasLabels(row, criterion.where));
  const withAxis = (value: string) => chosen.filter((row) => label(row.labels[criterion.axis]) === label(value));
  const { axis, b, form, loads } = criterion;
  const busy = loads && new Set([...meansByCase(withAxis(loads.of), axis, "mean_ms")].flatMap(([key, mean_ms]) => (mean_ms >= loads.from_ms ? [key] : [])));
  return criterion.a.flatMap((a) => (form === "gain" ? gains(criterion, withAxis(a), withAxis(b)) : comparisons(criterion, withAxis(a), withAxis(b), busy)));
}

function meansByCase(rows: readonly Row[], axis: string, y: string): Map<string, number> {
  return new Map([...groupBy(rows, (row) => caseKey(row, axis))].map(([key, group]) => [key, mean(group.map((row) => row.values[y]!))]));
}

/** Compares the means of y of runs that differ in the axis only; where `busy` is given, of these cases if neither is overloaded. */
function comparisons({ form, axis, y, y_b = y }: Criterion, a: readonly Row[], b: readonly Row[], busy: ReadonlySet<string> | undefined): number[] {
  const [meansA, meansB] = [meansByCase(a, axis, y), meansByCase(b, axis, y_b)];
  const overloaded = new Set([...a, ...b].filter(({ isOverloaded }) => isOverloaded).map((row) => caseKey(row, axis)));
  return [...meansA].flatMap(([key, valueA]) => {
    const valueB = meansB.get(key);
    if (valueB === undefined || (busy && (!busy.has(key) || overloaded.has(key)))) return [];
    const ratio = valueA / valueB;
    return [{ ratio, change: ratio - 1, difference: valueA - valueB, loss: 1 - ratio, gain: NaN }[form]];
  });
}

/** Relative gains in arrival rate at equal mean response; levels that a run reaches only in overload, or not, are left out. */
function gains({ levels, y }: Criterion, a: readonly Row[], b: readonly Row[]): number[] {
  return levels.flatMap((level) => {
    const [rateA, rateB] = [a, b].map((rows) => meanRate(rows, y, level));
    return rateA != null && rateB != null ? [rateA / rateB - 1] : [];
  });
}

/** The mean over seeds of the arrival rate at which a curve first reaches a level, interpolated on the logarithm of y. */
function meanRate(rows: readonly Row[], y: string, level: number): number | null {
  const rates = [...groupBy(rows, (row) => String(row.seed)).values()].map((group) => crossing(group, y, level));
  return rates.length > 0 && rates.every((rate) => rate !== null) ? mean(rates as number[]) : null;
}

function crossing(rows: readonly Row[], y: string, level: number): number | null {
  const ordered = [...rows].sort((one, other) => one.values["arrival_rate_iops"]! - other.values["arrival_rate_iops"]!);
  for (let index = 1; index < ordered.length; index++) {
    const [lower, upper] = [ordered[index - 1]!, ordered[index]!];
    const [low, high] = [lower.values[y]!, upper.values[y]!];
    if (low >= level) return null;
    if (level > high) continue;
    const share = Math.log(level / low) / Math.log(high / low);
    const [rate, nextRate] = [lower.values["arrival_rate_iops"]!, upper.values["arrival_rate_iops"]!];
    return upper.isOverloaded ? null : rate + share * (nextRate - rate);
  }
  return null;
}

function hasLabels(row: Row, labels: Labels): boolean {
  return Object.entries(labels).every(([key, value]) => !(key in row.labels) || label(row.labels[key]) === label(value));
}

/** What runs of different seeds share; without the label `axis`. */
function caseKey(row: Row, axis = ""): string {
  return JSON.stringify([row.place, Object.entries(row.labels).filter(([key]) => key !== axis)]);
}

function groupBy<Value>(values: readonly Value[], key: (value: Value) => string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) append(groups, key(value), value);
  return groups;
}

function append<Value>(groups: Map<string, Value[]>, key: string, value: Value): void {
  const group = groups.get(key);
  if (group) group.push(value);
  else groups.set(key, [value]);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
