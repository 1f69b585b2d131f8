// What a reader has chosen: size, seeds and settings; as the address holds them, as runs, and as a command.

import type { Case, Control, Description, Part, Setting } from "./description.ts";
import type { Task } from "./runs.ts";

export interface State {
  /** Requests a run, or the scale factor of a job's data. */
  readonly size: number;
  readonly seeds: number;
  /** Values that differ from the paper's set, by key. */
  readonly changes: ReadonlyMap<string, string>;
}

const SPEEDUP = "study.speedup";

/** The set of the paper, at reduced size. */
export function initialState(description: Description): State {
  return { size: description.sizes[1]!, seeds: 1, changes: new Map() };
}

/** The state in an address such as `#hong2006-figure-9&seeds=3&device.direction=parity`. */
export function parseState(description: Description, words: readonly string[]): State {
  const values = new Map(words.map((each) => each.split("=").map(decodeURIComponent) as [string, string]));
  const readCount = (name: string, fallback: number) => {
    const count = Number(values.get(name) ?? NaN);
    values.delete(name);
    return count > 0 ? count : fallback;
  };
  const { size, seeds } = initialState(description);
  return { size: readCount("size", size), seeds: readCount("seeds", seeds), changes: values };
}

export function formatState(description: Description, { size, seeds, changes }: State): string {
  const initial = initialState(description);
  const counts: [string, string | false][] = [["size", size !== initial.size && String(size)], ["seeds", seeds !== initial.seeds && String(seeds)]];
  const pairs = [...counts.filter(([, value]) => value !== false), ...changes] as [string, string][];
  return `#${[description.name, ...pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)].join("&")}`;
}

/** All settings of the set. */
export function controls(description: Description): Control[] {
  return description.controls.flatMap(({ settings }) => settings);
}

/** The changes that make the old reading. */
export function formerChanges(description: Description): Map<string, string> {
  return new Map(controls(description).flatMap(({ key, former, value }) => (former !== null && former !== value ? [[key, former] as const] : [])));
}

/** The runs of a state; `trace` is the name of the reader's trace. */
export function tasks(description: Description, state: State, trace: string, size: number, seeds: readonly number[]): Task[] {
  const needsRate = description.panels.some(({ x }) => x === "arrival_rate_iops");
  return description.parts.flatMap((part, index) => {
    const changes = partChanges(description, state, index);
    const own = [...changes].filter(([key]) => !key.includes(":") && key !== SPEEDUP);
    const shared: Setting[] = [...(trace ? [["trace.file", JSON.stringify(trace)] as const] : []), ...own, ...(part.records ? [] : [["replay.limit", String(size)] as const])];
    return chosenCases(description, part, changes).flatMap((each) => seeds.map((seed) => ({
      place: part.place, labels: each.labels, toml: each.toml ?? (trace ? part.traced_toml! : part.toml), seed, needsRate,
      ...(part.records ? { record: part.records[String(size)]![each.record!]! } : {}),
      settings: [...shared, ...each.settings.map(([key, value]) => [key, key === "scheduler.kind" ? scheduler(value, changes) : value] as const)],
    })));
  });
}

/** The cases at the loads that are chosen. */
function chosenCases(description: Description, part: Part, changes: ReadonlyMap<string, string>): readonly Case[] {
  const control = controls(description).find(({ key }) => key === SPEEDUP);
  if (!control) return part.cases;
  const loads = JSON.parse(changes.get(SPEEDUP) ?? control.value!) as number[];
  return part.cases.filter(({ labels }) => loads.includes(Number(labels["speedup"])));
}

/** A scheduler with its changed parameters. */
function scheduler(name: string, changes: ReadonlyMap<string, string>): string {
  return [name, ...[...changes].flatMap(([key, value]) => (key.startsWith(`${name}:`) ? [`${key.slice(name.length + 1)}=${value}`] : []))].join(":");
}

/** The changes that apply to a part: those of its assumptions, and the reader's own. */
function partChanges(description: Description, { changes }: State, index: number): Map<string, string> {
  const foreign = new Set(description.controls.flatMap(({ parts, settings }) => (parts.includes(index) ? [] : settings.map(({ key }) => key))));
  return new Map([...changes].filter(([key]) => !foreign.has(key)));
}

/** The commands that make the same runs, one for each part. */
export function commands(description: Description, state: State, trace: string): string[] {
  return description.parts.map((part, index) => {
    const changes = partChanges(description, state, index);
    const plain = [...changes].filter(([key]) => !key.includes(":") && key !== SPEEDUP);
    const settings = new Map([...Object.entries(trace ? withoutWorkload(part.settings) : part.settings), ...plain]);
    const speedup = changes.get(SPEEDUP);
    const names = [...new Set(part.cases.map(({ labels }) => String(labels["scheduler"])))];
    const words = [...part.words];
    if (names.some((name) => scheduler(name, changes) !== name)) words.push("--scheduler", names.map((name) => scheduler(name, changes)).join(","));
    if (speedup) words.push("--speedup", (JSON.parse(speedup) as number[]).join(","));
    const source = trace ? ["--trace", trace] : part.workload ? ["--workload", part.workload] : [];
    const jobSettings = [`scale_factor=${state.size}`, ...(part.job_settings ?? [])];
    const size = part.records ? jobSettings.flatMap((setting) => ["--job-set", setting]) : ["--limit", String(state.size), "--seed", state.seeds > 1 ? `1..${state.seeds}` : "1"];
    const sets = [...settings].flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    return [...part.command, ...source, ...words, ...sets, ...size].map(quote).join(" ");
  });
}

function withoutWorkload(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !key.startsWith("workload.")));
}

/** A word as a shell takes it. */
function quote(word: string): string {
  return /^[\w.,:=/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
