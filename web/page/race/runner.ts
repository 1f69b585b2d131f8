// A runner of a race: a worker with a run of its own, and the card that shows the run's progress and statistics.

import type { Laboratory } from "../../core/laboratory.ts";
import type { Glance, Rows } from "../../core/types.ts";
import { el, fill, select } from "../dom.ts";
import { worker } from "../engine.ts";
import type { Experiment } from "../experiment.ts";
import { figure } from "../format.ts";
import { overload } from "../overload.ts";
import { dot } from "../watch/life.ts";

export class Runner {
  readonly element = el("section", { class: "card runner" });
  glance: Glance | null = null;
  rows: Rows | null = null;
  /** Whether the queue kept growing; known at the end of the run. */
  saturated = false;
  capacity_blocks = 1;
  /** Number of waiting requests so far, by simulated time in s. */
  readonly queue: { x: number[]; y: number[] } = { x: [], y: [] };
  /** Energy used so far, in J, by simulated time in s. */
  readonly energy: { x: number[]; y: number[] } = { x: [0], y: [0] };
  private core: Laboratory | null = null;
  private run = -1;
  private readonly bar = el("progress", { max: 1, value: 0 });
  private readonly figures = el("div");

  constructor(readonly name: string, readonly colour: string, options: readonly (readonly [string, string])[], chosen: (name: string) => void, remove: (() => void) | null) {
    this.bar.setAttribute("aria-label", `progress of ${name}`);
    const out = remove && el("button", { type: "button", class: "plain", "aria-label": `take ${name} out of the race` }, ["×"], { click: remove });
    fill(this.element, el("h2", { class: "row" }, [dot(colour), select("", options, name, chosen), el("span", { class: "grow" }), out]), this.bar, this.figures);
    this.element.querySelector("select")!.setAttribute("aria-label", "runner");
  }

  get done(): boolean {
    return this.glance?.done ?? false;
  }

  async open(experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const core = await worker(traces);
    this.core = core;
    const opened = await core.open(experiment.toml, this.name);
    this.run = opened.run;
    this.capacity_blocks = opened.capacity_blocks;
  }

  /** Simulates so many operations more. */
  async go(operations: number): Promise<void> {
    if (!this.core || this.done) return;
    const { done } = await this.core.run(this.run, operations);
    const glance = await this.core.glance(this.run);
    this.queue.x.push(glance.simulated_ns / 1e9);
    this.queue.y.push(glance.waiting);
    this.energy.x.push(glance.simulated_ns / 1e9);
    this.energy.y.push(glance.energy_j);
    if (done) {
      this.rows = await this.core.rows(this.run);
      this.saturated = (await this.core.outcome(this.run)).summary.saturated;
    }
    this.glance = glance;
    this.show();
  }

  end(): void {
    this.core?.end();
    this.core = null;
  }

  private show(): void {
    const glance = this.glance!;
    this.bar.value = glance.done ? 1 : (glance.fraction ?? 0);
    const line = (name: string, value: number, unit: string) => el("tr", {}, [el("td", {}, [name]), el("td", {}, [`${figure(value)} ${unit}`])]);
    fill(this.figures, el("p", { class: "big" }, [`${figure(glance.mean_ms)} ms`]), el("p", { class: "quiet" }, ["mean response time"]), overload(this.saturated),
      el("table", {}, [el("tbody", {}, [
        line("99 % within", glance.p99_ms, "ms"), line("longest", glance.max_ms, "ms"), line("energy", glance.energy_j, "J"), line("simulated", glance.simulated_ns / 1e9, "s"),
      ])]));
  }
}
