// What a reader has chosen: size, seeds and settings; as the address holds them, as runs, and as a command.

import type { Case, Control, Description, Part, Setting } from "./description.ts";
import type { Task } from "./runs.ts";

export const MAX_SEEDS = 5;

export interface State {
  /** Requests a run, or the scale factor of a job's data. */
  readonly size: number;
  readonly seeds: number;
  /** Values that differ from the paper's set, by key. */
  readonly changes: ReadonlyMap<string, string>;
  /** Words of the reader that mean nothing here. */
  readonly ignored: readonly string[];
}

const SPEEDUP = "study.speedup";

/** Whether the figure is of a job, which has work records of a few sizes and no seeds. */
export function isJob(description: Description): boolean {
  return description.parts.some(({ records }) => records !== undefined);
}

/** The set of the paper, at reduced size. */
export function initialState(description: Description): State {
  return { size: description.sizes[1]!, seeds: 1, changes: new Map(), ignored: [] };
}

/** The state in the words of an address such as `#hong2006-figure-9&seeds=3&device.direction=parity`. */
export function parseState(description: Description, words: readonly string[]): State {
  const values = new Map<string, string>();
  const ignored: string[] = [];
  for (const word of words.map(decode)) {
    const [, key, value] = /^\s*([\w.:-]+)\s*=\s*(.*\S)\s*$/.exec(word) ?? [];
    if (key && value && isUsable(description, key, value)) values.set(key, value);
    else ignored.push(word);
  }
  const initial = initialState(description);
  const [size, seeds] = [Number(values.get("size") ?? initial.size), Number(values.get("seeds") ?? initial.seeds)];
  return { size, seeds, changes: new Map([...values].filter(([key]) => key !== "size" && key !== "seeds")), ignored };
}

/** A word as the reader wrote it; one that is not encoded as addresses are, unchanged. */
function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** Whether a value has an effect here. The core judges values of settings that the figure does not set itself, with a message of its own. */
function isUsable(description: Description, key: string, value: string): boolean {
  if (key === "size") return isJob(description) ? description.sizes.map(String).includes(value) : /^[1-9]\d*$/.test(value);
  if (key === "seeds") return /^\d$/.test(value) && Number(value) >= 1 && Number(value) <= MAX_SEEDS;
  const control = controls(description).find((each) => each.key === key);
  if (key === SPEEDUP) return control?.known.some(([text]) => text === value) ?? false;
  const isVaried = description.parts.some(({ cases }) => cases.some(({ settings }) => settings.some(([name]) => name === key)));
  return control !== undefined || !(isVaried || key === "seed" || key === "replay.limit" || key.includes(":"));
}

export function formatState(description: Description, { size, seeds, changes }: State): string {
  const initial = initialState(description);
  const counts: [string, string | false][] = [["size", size !== initial.size && String(size)], ["seeds", seeds !== initial.seeds && String(seeds)]];
  const pairs = [...counts.filter(([, value]) => value !== false), ...changes] as [string, string][];
  return `#${[description.name, ...pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)].join("&")}`;
}

/** All settings of the set. */
export function controls(description: Description): Control[] {
  return description.assumptions.flatMap(({ settings }) => settings);
}

/** The changes that make the old reading. */
export function formerChanges(description: Description): Map<string, string> {
  return new Map(controls(description).flatMap(({ key, former }) => (former === null ? [] : [[key, former] as const])));
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
  const loads = JSON.parse(changes.get(SPEEDUP) ?? control.value) as number[];
  return part.cases.filter(({ labels }) => loads.includes(Number(labels["speedup"])));
}

/** A scheduler with its changed parameters. */
function scheduler(name: string, changes: ReadonlyMap<string, string>): string {
  return [name, ...[...changes].flatMap(([key, value]) => (key.startsWith(`${name}:`) ? [`${key.slice(name.length + 1)}=${value}`] : []))].join(":");
}

/** The changes that apply to a part: those of its assumptions, and the reader's own. */
function partChanges(description: Description, { changes }: State, index: number): Map<string, string> {
  const foreign = new Set(description.assumptions.flatMap(({ parts, settings }) => (parts.includes(index) ? [] : settings.map(({ key }) => key))));
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
