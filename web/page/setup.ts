// What is simulated: device, workload, scheduler, power policy and load, as a strip of controls over an experiment.

import type { Catalog, Entry } from "../core/types.ts";
import { el, fill, select } from "./dom.ts";
import { Experiment, parseNumber } from "./experiment.ts";
import { formatNumber, shorten } from "./format.ts";

/** The experiment with which the page begins: enough load that its scheduler has a choice. */
export const DEFAULT_EXPERIMENT = Experiment.parse(`seed = 1

[device]
preset = "mems-g2"

[workload]
kind = "uniform"
mean_interarrival_ms = 0.62
blocks = 8
read_share = 0.67

[scheduler]
kind = "sptf"

[replay]
limit = 20000
`);

/** Where watching that experiment begins: some twenty requests wait. */
export const DEFAULT_START_NS = 0.392e9;

const CUSTOM_DEVICE = "(as given)";
/** No front device. */
const NO_FRONT = "none";
/** Requests of a workload that is chosen here. */
const REQUEST_LIMIT = 20_000;
/** Steps of the load's slider for a factor of ten: it goes from a tenth to tenfold. */
const STEPS_PER_DECADE = 100;

export class Setup {
  readonly element = el("section", { class: "card setup row", "aria-label": "What is simulated", "data-tour": "setup" });
  private readonly loadSlider: HTMLInputElement;
  private readonly loadOutput = el("output");

  constructor(private readonly catalog: Catalog, private experiment: Experiment, private readonly onChange: (experiment: Experiment) => void) {
    this.loadSlider = el("input", { type: "range", min: -STEPS_PER_DECADE, max: STEPS_PER_DECADE, step: 5, "aria-label": "load" }, [], {
      input: () => this.showLoad(this.chosenSpeedup),
      change: () => this.setExperiment(this.experiment.withValue("replay", "speedup", this.chosenSpeedup)),
    });
    this.show(experiment, []);
  }

  /** Shows an experiment; `traces` are the names of files that it can replay. */
  show(experiment: Experiment, traces: readonly string[]): void {
    this.experiment = experiment;
    const speedup = parseNumber(experiment.get("replay", "speedup") ?? "1");
    this.loadSlider.value = String(Math.round(Math.log10(speedup) * STEPS_PER_DECADE));
    this.showLoad(speedup);
    const traceFile = experiment.get("trace", "file");
    const device = experiment.get("device", "preset");
    fill(this.element,
      select("device", [...(device ? [] : [[CUSTOM_DEVICE, experiment.get("device", "name") ?? CUSTOM_DEVICE] as const]), ...toOptions(this.catalog.devices)], device ?? CUSTOM_DEVICE,
        (name) => name !== CUSTOM_DEVICE && this.setExperiment(this.experiment.withTable("device", { preset: name }))),
      this.frontSelect(device),
      select("requests", [...traces.map((name) => [`trace:${name}`, shorten(name, 28)] as const), ...toOptions(this.catalog.workloads)],
        traceFile === undefined ? (experiment.get("workload", "kind") ?? "uniform") : `trace:${traceFile}`, (name) => this.setExperiment(this.withRequests(name))),
      select("scheduler", toOptions(this.catalog.schedulers), canonicalName(this.catalog.schedulers, experiment.get("scheduler", "kind") ?? "fcfs"),
        (name) => this.setExperiment(this.experiment.withTable("scheduler", { kind: name }))),
      select("parks", [["", "device default"] as const, ...toOptions(this.catalog.power_policies)], experiment.get("power", "kind") ?? "",
        (name) => this.setExperiment(this.experiment.withTable("power", name === "" ? null : { kind: name }))),
      el("label", { class: "field" }, [el("span", {}, ["load"]), this.loadSlider, this.loadOutput]));
  }

  /** The choice of a hybrid, whose front is MEMS; null unless the device is a disk or the experiment has a hybrid. */
  private frontSelect(device: string | undefined): HTMLElement | null {
    const kind = this.experiment.get("hybrid", "kind") ?? NO_FRONT;
    const isDisk = /^\s*kind\s*=\s*"disk"/m.test(this.catalog.presets[device ?? ""] ?? "");
    if (!isDisk && kind === NO_FRONT) return null;
    const word = kind.split(":")[0]!;
    return select("in front", [[NO_FRONT, NO_FRONT] as const, ...toOptions(this.catalog.hybrids)], word,
      (name) => this.setExperiment(this.experiment.withTable("hybrid", name === NO_FRONT ? null : { kind: name })));
  }

  /** The speed-up at the place of the slider. */
  private get chosenSpeedup(): number {
    return Number((10 ** (Number(this.loadSlider.value) / STEPS_PER_DECADE)).toPrecision(3));
  }

  /** Shows a speed-up, which need not be one of those that the slider has. */
  private showLoad(speedup: number): void {
    this.loadOutput.textContent = `× ${formatNumber(speedup)}`;
    this.loadSlider.setAttribute("aria-valuetext", `${formatNumber(speedup)} times the arrivals`);
  }

  private withRequests(name: string): Experiment {
    if (name.startsWith("trace:")) return this.experiment.withTrace(name.slice(6));
    const defaults = name === "uniform" ? { mean_interarrival_ms: 0.62, blocks: 8, read_share: 0.67 } : {};
    return this.experiment.withTable("trace", null).withTable("workload", { kind: name, ...defaults }).withValue("replay", "limit", REQUEST_LIMIT);
  }

  private setExperiment(experiment: Experiment): void {
    this.experiment = experiment;
    this.onChange(experiment);
  }
}

/** The name of an entry that has `word` as its name or an alias; `word` itself where none has. */
export function canonicalName(entries: readonly Entry[], word: string): string {
  return entries.find(({ name, aliases }) => name === word || aliases?.includes(word))?.name ?? word;
}

function toOptions(entries: readonly Entry[]): (readonly [string, string])[] {
  return entries.map(({ name }) => [name, name] as const);
}
