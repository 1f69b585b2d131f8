// What is simulated: device, workload, scheduler, power policy and load, as a strip of controls over an experiment.

import type { Catalogue, Entry } from "../core/types.ts";
import { el, fill, select } from "./dom.ts";
import { Experiment } from "./experiment.ts";
import { figure, short } from "./format.ts";

/** The experiment with which the page begins: enough load that its scheduler has a choice. */
export const FIRST = Experiment.of(`seed = 1

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
export const FIRST_AT_NS = 0.392e9;

const GIVEN = "(as given)";
/** No front device. */
const NONE = "none";
/** Requests of a workload that is chosen here. */
const LIMIT = 20_000;
/** Steps of the load's slider for a factor of ten: it goes from a tenth to tenfold. */
const DECADE = 100;

export class Setup {
  readonly element = el("section", { class: "card setup row", "aria-label": "What is simulated", "data-tour": "setup" });
  private readonly load: HTMLInputElement;
  private readonly factor = el("output");

  constructor(private readonly catalogue: Catalogue, private experiment: Experiment, private readonly changed: (experiment: Experiment) => void) {
    this.load = el("input", { type: "range", min: -DECADE, max: DECADE, step: 5, "aria-label": "load" }, [], {
      input: () => this.tell(),
      change: () => this.say(this.experiment.with("replay", "speedup", Number(figure(this.speedup)))),
    });
    this.show(experiment, []);
  }

  /** Shows an experiment; `traces` are the names of files that it can replay. */
  show(experiment: Experiment, traces: readonly string[]): void {
    this.experiment = experiment;
    this.load.value = String(Math.round(Math.log10(Number(experiment.get("replay", "speedup") ?? 1)) * DECADE));
    this.tell();
    const source = experiment.get("trace", "file");
    const device = experiment.get("device", "preset");
    fill(this.element,
      select("device", [...(device ? [] : [[GIVEN, experiment.get("device", "name") ?? GIVEN] as const]), ...named(this.catalogue.devices)], device ?? GIVEN,
        (name) => name !== GIVEN && this.say(this.experiment.withTable("device", { preset: name }))),
      this.front(device),
      select("requests", [...traces.map((name) => [`trace:${name}`, short(name, 28)] as const), ...named(this.catalogue.workloads)],
        source === undefined ? (experiment.get("workload", "kind") ?? "uniform") : `trace:${source}`, (name) => this.say(this.from(name))),
      select("scheduler", named(this.catalogue.schedulers), nameOf(this.catalogue.schedulers, experiment.get("scheduler", "kind") ?? "fcfs"),
        (name) => this.say(this.experiment.withTable("scheduler", { kind: name }))),
      select("parks", [["", "as the device says"] as const, ...named(this.catalogue.power_policies)], experiment.get("power", "kind") ?? "",
        (name) => this.say(this.experiment.withTable("power", name === "" ? null : { kind: name }))),
      el("label", { class: "field" }, [el("span", {}, ["load"]), this.load, this.factor]));
  }

  /** The choice of a hybrid, whose front is MEMS; null unless the device is a disk or the experiment has a hybrid. */
  private front(device: string | undefined): HTMLElement | null {
    const kind = this.experiment.get("hybrid", "kind") ?? NONE;
    const isDisk = /^\s*kind\s*=\s*"disk"/m.test(this.catalogue.presets[device ?? ""] ?? "");
    if (!isDisk && kind === NONE) return null;
    const word = kind.split(":")[0]!;
    return select("in front", [[NONE, NONE] as const, ...named(this.catalogue.hybrids)], word,
      (name) => this.say(this.experiment.withTable("hybrid", name === NONE ? null : { kind: name })));
  }

  private get speedup(): number {
    return 10 ** (Number(this.load.value) / DECADE);
  }

  private tell(): void {
    this.factor.textContent = `× ${figure(this.speedup, 2)}`;
    this.load.setAttribute("aria-valuetext", `${figure(this.speedup, 2)} times the arrivals`);
  }

  private from(name: string): Experiment {
    if (name.startsWith("trace:")) return this.experiment.withTable("workload", null).withTable("trace", { file: name.slice(6) });
    const first = name === "uniform" ? { mean_interarrival_ms: 0.62, blocks: 8, read_share: 0.67 } : {};
    return this.experiment.withTable("trace", null).withTable("workload", { kind: name, ...first }).with("replay", "limit", LIMIT);
  }

  private say(experiment: Experiment): void {
    this.experiment = experiment;
    this.changed(experiment);
  }
}

/** The name of an entry that has `word` as its name or an alias; `word` itself where none has. */
export function nameOf(entries: readonly Entry[], word: string): string {
  return entries.find(({ name, aliases }) => name === word || aliases?.includes(word))?.name ?? word;
}

function named(entries: readonly Entry[]): (readonly [string, string])[] {
  return entries.map(({ name }) => [name, name] as const);
}
