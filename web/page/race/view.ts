// The view Race: two to four variants of an experiment that differ in one choice, with the same arrivals, side by side.

import type { App } from "../app.ts";
import { Plot, addPlotMenu, type Chart } from "../chart.ts";
import { button, el, fill, select } from "../dom.ts";
import type { Experiment, Values } from "../experiment.ts";
import { colorsOf } from "../palette.ts";
import { alignCurves, alignSteps, waitByPlace } from "./places.ts";
import { Runner } from "./runner.ts";
import { verdict } from "./verdict.ts";

/** What can race: the table and key of an experiment that differ, and the two runners at first, which keep up with the load at which the page begins. */
const AXES = {
  schedulers: { table: "scheduler", key: "kind", first: ["c-scan", "sptf"], entries: "schedulers" },
  devices: { table: "device", key: "preset", first: ["mems-g2", "mems-g3"], entries: "devices" },
  "power policies": { table: "power", key: "kind", first: ["never", "immediate"], entries: "power_policies" },
  layouts: { table: "device", key: "layout", first: ["row-first", "streaming"], entries: null },
  designs: { table: "device", key: null, first: [], entries: null },
} as const;
type Axis = keyof typeof AXES;

const MAX_RUNNERS = 4;
/** Steps in which the curves grow, and operations of the first one. */
const CURVE_STEPS = 120;
const FIRST_OPERATIONS = 100;
/** Longer steps do not wait for the screen: drawing must not take longer than simulating. */
const MAX_ANIMATED = 1000;
const DRAW_INTERVAL_MS = 250;
const ADDRESS_PARTS = 40;
const CHART_HEIGHT = 250;

export class Race {
  readonly element = el("div", { class: "race" });
  private axis: Axis = "schedulers";
  private names: string[] = [...AXES.schedulers.first];
  /** Values of the table `device` of each design that can race, by the name of the design. */
  private designs: Readonly<Record<string, Values>> = {};
  private runners: Runner[] = [];
  private raceNumber = 0;
  private lastDrawn_ms = 0;
  private startedExperiment: Experiment | null = null;
  private readonly runnerCards = el("div", { class: "lanes-of-race" });
  private readonly curves = el("div", { class: "curves" });
  private readonly verdict = el("p", { class: "card verdict", "aria-live": "polite" });
  private readonly controls = el("section", { class: "card setup row", "aria-label": "Who races" });
  private plots: { distribution: Plot; queue: Plot; energy: Plot; places: Plot } | null = null;

  constructor(private readonly app: App) {
    fill(this.element, this.controls, this.runnerCards, this.verdict, this.curves);
  }

  /** Starts the race, unless the race of this experiment was started before. */
  async show(): Promise<void> {
    if (this.startedExperiment === this.app.experiment) return;
    await this.begin();
  }

  /** Starts a race of these schedulers, as the tour does. */
  raceSchedulers(names: readonly string[]): void {
    this.start("schedulers", names);
  }

  /** Starts a race of designs: values of the table `device` by the name of the design. */
  raceDesigns(designs: Readonly<Record<string, Values>>): void {
    this.designs = designs;
    this.start("designs", Object.keys(designs));
  }

  private start(axis: Axis, names: readonly string[]): void {
    this.axis = axis;
    this.names = [...names];
    this.startedExperiment = null;
    this.app.show("race");
  }

  async begin(isAnimated = !matchMedia("(prefers-reduced-motion: reduce)").matches): Promise<void> {
    const raceNumber = ++this.raceNumber;
    this.startedExperiment = this.app.experiment;
    this.clear();
    this.compose();
    try {
      await this.run(raceNumber, isAnimated);
    } catch (error) {
      // The error of a race that another one has replaced is not shown.
      if (raceNumber === this.raceNumber) throw error;
    }
  }

  /** Ends the runs and frees the charts of the race before. */
  private clear(): void {
    for (const each of this.runners) each.end();
    for (const plot of Object.values(this.plots ?? {})) plot.destroy();
    this.plots = null;
  }

  private async run(raceNumber: number, isAnimated: boolean): Promise<void> {
    const { runners } = this;
    await Promise.all(runners.map((each) => each.open(this.variant(each.name), this.app.traces)));
    for (let operations = FIRST_OPERATIONS; raceNumber === this.raceNumber && runners.some((each) => !each.isDone); ) {
      await Promise.all(runners.map((each) => each.advance(operations)));
      if (raceNumber !== this.raceNumber) return;
      operations = Math.max(operations, ...runners.map((each) => Math.ceil(each.expectedOperations / CURVE_STEPS)));
      if (operations <= MAX_ANIMATED && isAnimated) {
        this.draw();
        await nextFrame();
      } else if (performance.now() - this.lastDrawn_ms > DRAW_INTERVAL_MS) this.draw();
    }
    if (raceNumber === this.raceNumber) this.finish();
  }

  private variant(name: string): Experiment {
    const { table, key } = AXES[this.axis];
    const { experiment } = this.app;
    if (key === null) return experiment.withTable(table, this.designs[name]!);
    return key === "layout" ? experiment.withValue(table, key, name) : experiment.withTable(table, { [key]: name });
  }

  private options(): (readonly [string, string])[] {
    const { entries } = AXES[this.axis];
    if (entries) return this.app.catalog[entries].map(({ name }) => [name, name] as const);
    if (this.axis === "designs") return Object.keys(this.designs).map((name) => [name, name] as const);
    const parameter = this.app.catalog.device_kinds.find(({ name }) => name === "mems")?.parameters?.find(({ name }) => name === "layout");
    const layouts = Array.isArray(parameter?.["kind"]) ? (parameter["kind"] as string[]) : [...AXES.layouts.first];
    return layouts.map((name) => [name, name] as const);
  }

  private compose(): void {
    const options = this.options();
    const restart = (names: string[]) => {
      this.names = names;
      void this.app.attempt(() => this.begin());
    };
    const colors = colorsOf(this.names);
    this.runners = this.names.map((name, index) => new Runner(name, colors[index]!, options,
      (newName) => restart(this.names.map((each, otherIndex) => (otherIndex === index ? newName : each))),
      this.names.length > 2 ? () => restart(this.names.filter((_, otherIndex) => otherIndex !== index)) : null));
    const nextName = options.find(([name]) => !this.names.includes(name))?.[0];
    const axes = (Object.keys(AXES) as Axis[]).filter((name) => name !== "designs" || Object.keys(this.designs).length > 0);
    fill(this.controls,
      select("race", axes.map((name) => [name, name] as const), this.axis, (axis) => {
        this.axis = axis as Axis;
        restart(this.axis === "designs" ? Object.keys(this.designs) : [...AXES[this.axis].first]);
      }),
      button("Race again", () => restart(this.names), { class: "main" }),
      button("Add a runner", () => restart([...this.names, nextName!]), { disabled: this.names.length >= MAX_RUNNERS || !nextName }),
      el("span", { class: "quiet" }, ["All runners get the same arrivals. Changing the load restarts the race."]));
    fill(this.verdict, "Running …");
    fill(this.runnerCards, ...this.runners.map((each) => each.element));
    this.createCharts();
  }

  private createCharts(): void {
    const curves = this.runners.map(({ name, color }, index) => ({ label: name, color, ...(index % 2 ? { dash: [6, 3] } : {}) }));
    fill(this.curves);
    const plot = (title: string, label: string, x: string, y: string, options: Partial<Chart> = {}) => {
      const plotHolder = el("div");
      const card = el("section", { class: "card" }, [el("h2", {}, [title]), plotHolder]);
      const plot = new Plot(plotHolder, { label, xLabel: x, yLabel: y, height: CHART_HEIGHT, curves, ...options });
      addPlotMenu(card, label, [plot]);
      this.curves.append(card);
      return plot;
    };
    this.plots = {
      distribution: plot("Response times: share of requests answered within", "Distribution of response times", "response time, ms", "share, %", { isLogX: true, hasSteps: true }),
      queue: plot("Requests waiting", "Requests waiting over time", "simulated time, s", "waiting"),
      energy: plot("Energy spent so far", "Energy over time", "simulated time, s", "energy, J"),
      places: plot("Time in the queue by place on the device", "Mean time in the queue by place on the device", "place: share of the addresses, %", "in the queue, ms"),
    };
    this.curves.lastElementChild!.setAttribute("data-tour", "places");
  }

  private draw(): void {
    this.lastDrawn_ms = performance.now();
    const startedRunners = this.runners.filter((each) => each.snapshot);
    if (startedRunners.length < this.runners.length || !this.plots) return;
    this.plots.distribution.set(alignSteps(startedRunners.map(({ snapshot }) => ({ x: snapshot!.response_ms, y: snapshot!.share.map((share) => share * 100) }))));
    this.plots.queue.set(alignCurves(startedRunners.map(({ queue }) => queue)));
    this.plots.energy.set(alignCurves(startedRunners.map(({ energy }) => energy)));
  }

  private finish(): void {
    this.draw();
    const axis = Array.from({ length: ADDRESS_PARTS }, (_, part) => ((part + 0.5) / ADDRESS_PARTS) * 100);
    this.plots!.places.set([axis, ...this.runners.map(({ rows, capacity_blocks, firstCounted }) => waitByPlace(rows!, capacity_blocks, ADDRESS_PARTS, firstCounted))]);
    fill(this.verdict, verdict(this.runners.map(({ name, snapshot, isSaturated }) => (
      // A run that has ended has requests.
      { name, mean_ms: snapshot!.mean_ms!, max_ms: snapshot!.max_ms!, energy_j: snapshot!.energy_j!, isSaturated }))));
    const names = this.runners.map(({ name, isSaturated }) => (isSaturated ? `${name} (overloaded)` : name));
    for (const plot of Object.values(this.plots!)) plot.rename(names);
    for (const each of this.runners) each.end();
  }
}

function nextFrame(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => done()));
}
