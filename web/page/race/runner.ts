// A runner of a race: a worker with a run of its own, and the card that shows the run's progress and statistics.

import type { Laboratory } from "../../core/laboratory.ts";
import type { Snapshot, Rows } from "../../core/types.ts";
import { el, fill, select } from "../dom.ts";
import { takeWorker } from "../engine.ts";
import { warmupOperations, type Experiment } from "../experiment.ts";
import { formatNumber } from "../format.ts";
import { overloadWarning } from "../overload.ts";
import { adaptiveColor } from "../palette.ts";
import { swatch } from "../watch/timeline.ts";
import { PLACE_COLUMNS } from "./places.ts";

export class Runner {
  readonly element = el("section", { class: "card runner" });
  snapshot: Snapshot | null = null;
  rows: Rows | null = null;
  /** Whether the queue kept growing, and requests completed per second; known at the end of the run. */
  isSaturated = false;
  private throughput_iops = 0;
  /** Number of the first operation that counts: those before it are the warm-up. */
  firstCounted = 0;
  capacity_blocks = 1;
  /** Number of waiting requests so far, by simulated time in s. */
  readonly queue: { x: number[]; y: number[] } = { x: [], y: [] };
  /** Energy used since the end of the warm-up, in J, by simulated time in s. */
  readonly energy: { x: number[]; y: number[] } = { x: [], y: [] };
  private core: Laboratory | null = null;
  private run = -1;
  private readonly bar = el("progress", { max: 1, value: 0 });
  private readonly figures = el("div");

  constructor(readonly name: string, readonly color: string, options: readonly (readonly [string, string])[], onChoose: (name: string) => void, onRemove: (() => void) | null) {
    this.bar.setAttribute("aria-label", `progress of ${name}`);
    this.bar.style.accentColor = adaptiveColor(color);
    const removeButton = onRemove && el("button", { type: "button", class: "plain", "aria-label": `take ${name} out of the race` }, ["×"], { click: onRemove });
    fill(this.element, el("h2", { class: "row" }, [swatch(color), select("", options, name, onChoose), el("span", { class: "grow" }), removeButton]), this.bar, this.figures);
    this.element.querySelector("select")!.setAttribute("aria-label", "runner");
  }

  get isDone(): boolean {
    return this.snapshot?.done ?? false;
  }

  /** Operations of the whole run, estimated from its progress; 0 while that is unknown. */
  get expectedOperations(): number {
    const { operations, fraction } = this.snapshot ?? { operations: 0, fraction: null };
    return fraction ? operations / fraction : 0;
  }

  async open(experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const core = await takeWorker(traces);
    this.core = core;
    const description = await core.open(experiment.toml, this.name);
    this.run = description.run;
    this.capacity_blocks = description.capacity_blocks;
    this.firstCounted = warmupOperations(description.toml);
    if (this.firstCounted === 0) this.addEnergy(0, 0);
  }

  /** Simulates so many operations more. */
  async advance(operationCount: number): Promise<void> {
    if (!this.core || this.isDone) return;
    const { done } = await this.core.run(this.run, operationCount);
    const snapshot = await this.core.snapshot(this.run);
    this.queue.x.push(snapshot.simulated_ns / 1e9);
    this.queue.y.push(snapshot.waiting);
    if (snapshot.energy_j !== null) this.addEnergy(snapshot.simulated_ns / 1e9, snapshot.energy_j);
    if (done) {
      this.rows = await this.core.rows(this.run, PLACE_COLUMNS);
      const { summary } = await this.core.outcome(this.run);
      [this.isSaturated, this.throughput_iops] = [summary.saturated, summary["throughput_iops"] as number];
    }
    this.snapshot = snapshot;
    this.show();
  }

  end(): void {
    this.core?.end();
    this.core = null;
  }

  private addEnergy(simulated_s: number, energy_j: number): void {
    this.energy.x.push(simulated_s);
    this.energy.y.push(energy_j);
  }

  private show(): void {
    const snapshot = this.snapshot!;
    // All requests have arrived before the last one completes.
    this.bar.value = snapshot.done ? 1 : Math.min(snapshot.fraction ?? 0, 0.99);
    const withUnit = (value: number | null, unit: string) => (value === null ? formatNumber(value) : `${formatNumber(value)} ${unit}`);
    const tableRow = (name: string, value: number | null, unit: string) => el("tr", {}, [el("td", {}, [name]), el("td", {}, [withUnit(value, unit)])]);
    const [value, caption] = this.isSaturated
      ? [`${formatNumber(this.throughput_iops)} requests/s`, "are completed: the load that it sustains is at most this"]
      : [withUnit(snapshot.mean_ms, "ms"), "mean response time"];
    fill(this.figures, el("p", { class: "big" }, [value]), el("p", { class: "quiet" }, [caption]), overloadWarning(this.isSaturated),
      el("table", {}, [el("tbody", {}, [
        tableRow("99 % within", snapshot.p99_ms, "ms"), tableRow("longest", snapshot.max_ms, "ms"), tableRow("energy", snapshot.energy_j, "J"), tableRow("simulated", snapshot.simulated_ns / 1e9, "s"),
      ])]));
  }
}
