// The runs of a figure, executed in web workers. Results are kept, so that a reader can go back.

import type { Laboratory } from "../core/laboratory.ts";
import type { Outcome } from "../core/types.ts";
import { takeWorker } from "../page/engine.ts";
import type { Labels, Setting } from "./description.ts";

const CHUNK_OPERATIONS = 20_000;
const MAX_WORKERS = 4;

/** A run: its experiment, and the labels under which panels find it. */
export interface Task {
  readonly place: string;
  readonly labels: Labels;
  readonly toml: string;
  readonly settings: readonly Setting[];
  readonly seed: number;
  /** Whether the arrival rate is wanted, which takes a second, short run. */
  readonly needsRate: boolean;
  /** Text of the work record, of a replay by a cluster. */
  readonly record?: string;
}

/** The results of a run, or of a phase of a job. */
export interface Row {
  readonly place: string;
  readonly labels: Labels;
  readonly seed: number;
  readonly values: Readonly<Record<string, number>>;
  readonly isOverloaded: boolean;
  readonly checksum: string;
}

type Result = Pick<Row, "labels" | "values" | "isOverloaded" | "checksum">;

export class Runner {
  private readonly workers: Promise<Laboratory>[];
  private readonly results = new Map<string, readonly Result[]>();
  private readonly lastArrivals_ns = new Map<string, Promise<number>>();

  constructor(traces: ReadonlyMap<string, Uint8Array>) {
    const count = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, MAX_WORKERS));
    this.workers = Array.from({ length: count }, () => takeWorker(traces));
  }

  /** Ends all workers. */
  end(): void {
    for (const worker of this.workers) void worker.then((core) => core.end());
  }

  /** Returns the results of all tasks; null as soon as they are no longer wanted. Throws the first error of a run. */
  async run(tasks: readonly Task[], isWanted: () => boolean): Promise<Row[] | null> {
    const rows: Row[][] = [];
    const queue = tasks.map((task, index) => ({ task, index }));
    let error: unknown;
    const work = async (worker: Promise<Laboratory>) => {
      const core = await worker;
      for (let next = queue.shift(); next && isWanted() && error === undefined; next = queue.shift()) {
        const { task, index } = next;
        const results = await this.measure(core, task, isWanted).catch((reason: unknown) => void (error ??= reason));
        if (results) rows[index] = results.map((result) => ({ place: task.place, seed: task.seed, ...result, labels: { ...task.labels, ...result.labels } }));
      }
    };
    await Promise.all(this.workers.map(work));
    if (!isWanted()) return null;
    if (error !== undefined) throw error;
    return rows.flat();
  }

  private async measure(core: Laboratory, task: Task, isWanted: () => boolean): Promise<readonly Result[] | null> {
    const key = JSON.stringify([task.toml, task.settings, task.seed, task.record]);
    const known = this.results.get(key);
    if (known) return known;
    const results = task.record === undefined ? await this.simulate(core, task, isWanted) : await replay(core, task, task.record);
    if (results) this.results.set(key, results);
    return results;
  }

  private async simulate(core: Laboratory, task: Task, isWanted: () => boolean): Promise<Result[] | null> {
    const { run } = await core.open(task.toml, "experiment", settingsOf(task));
    try {
      while (!(await core.run(run, CHUNK_OPERATIONS)).done) if (!isWanted()) return null;
      const outcome = await core.outcome(run);
      const rate = task.needsRate ? await this.arrivalRate(core, task, outcome) : NaN;
      return [toResult(outcome, rate)];
    } finally {
      await core.close(run);
    }
  }

  /** Requests offered per second, as `sledlab compare` reports them. */
  private async arrivalRate(core: Laboratory, task: Task, { summary }: Outcome): Promise<number> {
    const { replay } = summary["config"] as { replay: { mode: string; speedup: number } };
    if (replay.mode !== "open") return summary["throughput_iops"] as number;
    // Arrivals depend neither on the scheduler nor, but for a factor, on the speed.
    const settings = settingsOf(task).filter(([name]) => name !== "scheduler.kind" && name !== "replay.speedup");
    const key = JSON.stringify([task.toml, settings]);
    const last_ns = this.lastArrivals_ns.get(key) ?? lastArrival(core, task.toml, settings);
    this.lastArrivals_ns.set(key, last_ns);
    const offered = (summary["operations"] as { offered: number }).offered;
    return offered / ((await last_ns) / 1e9 / replay.speedup);
  }
}

function settingsOf({ settings, seed }: Task): Setting[] {
  return [...settings, ["seed", String(seed)]];
}

async function lastArrival(core: Laboratory, toml: string, settings: readonly Setting[]): Promise<number> {
  const { run } = await core.open(toml, "experiment", settings);
  const { arrival_ns } = await core.rows(run, ["arrival_ns"]);
  await core.close(run);
  return arrival_ns.reduce((latest, each) => Math.max(latest, each), 0);
}

/** The columns that panels and criteria can show. */
function toResult({ summary }: Outcome, arrival_rate_iops: number): Result {
  const energy = summary["energy_j"] as Record<string, number>;
  const { mean, scv } = summary["response_time_ms"] as Record<string, number>;
  const columns = Object.entries(energy).map(([state, value]) => [state === "total" ? "energy_j" : `${state}_j`, value] as const);
  const values = { mean_ms: mean!, scv: scv!, throughput_iops: summary["throughput_iops"] as number, arrival_rate_iops, ...Object.fromEntries(columns) };
  return { labels: {}, values, isOverloaded: summary.saturated, checksum: summary.checksum };
}

/** Replays a work record: a result for each phase, of the node that works longest. */
async function replay(core: Laboratory, task: Task, record: string): Promise<Result[]> {
  const { phases } = await core.replay(task.toml, new TextEncoder().encode(record), task.settings);
  return phases.map(({ name, nodes }) => {
    const longest = nodes.reduce((one, other) => (other.waiting_ns < one.waiting_ns ? other : one));
    const values = { longest_store_s: longest.store_ns / 1e9, longest_compute_s: longest.compute_ns / 1e9, longest_network_s: longest.network_ns / 1e9 };
    return { labels: { phase: name }, values, isOverloaded: false, checksum: "" };
  });
}
