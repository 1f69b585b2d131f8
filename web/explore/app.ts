// A figure of a paper that the reader computes: controls, panels, claims and the equivalent command.

import { button, el, fill, select } from "../page/dom.ts";
import { errorText } from "../page/engine.ts";
import { formatNumber } from "../page/format.ts";
import { assumptionElements } from "./assumptions.ts";
import { drawPanel } from "./chart.ts";
import type { Description } from "./description.ts";
import { Runner, type Row } from "./runs.ts";
import { commands, controls, formatState, formerChanges, isJob, MAX_SEEDS, parseState, tasks, type State } from "./state.ts";
import { judge, label } from "./values.ts";

const [MIN_PANEL_PX, GAP_PX, BORDER_PX] = [320, 14, 1];
const CLAIM_COLUMNS = ["claim", "says", "published", "here", "whole runs, the set"];
/** The trace that figures of Lin replay. */
const TRACE_HINT = "seagate_gap.txt of DiskSim";

export class Figure {
  readonly element = el("div", { class: "page" });
  private state: State;
  private runner: Runner;
  private rows: readonly Row[] = [];
  private shownSize = 1;
  private traces = new Map<string, Uint8Array>();
  /** Counts changes: runs of earlier states are no longer wanted. */
  private generation = 0;
  /** Changes of the reader, to return to from a preset. */
  private ownChanges: ReadonlyMap<string, string>;
  private readonly presets: readonly (readonly [changes: () => ReadonlyMap<string, string>, button: HTMLButtonElement])[];
  private readonly status = el("p", { class: "status", role: "status" });
  private readonly problem = el("p", { class: "problem", role: "alert", hidden: true });
  private readonly panels = el("div", { class: "panels" });
  private readonly legend = el("ul", { class: "legend" });
  private readonly claims = el("div");
  private readonly command = el("pre", { tabindex: 0, "aria-label": "Command" });
  private readonly runs = el("details", { class: "runs" }, [el("summary", {}, ["All runs, with checksums"])], { toggle: () => this.showRuns() });
  private readonly assumptions: HTMLElement;
  private readonly showAssumptions: (changes: ReadonlyMap<string, string>) => void;
  private readonly own = el("textarea", { rows: 3, spellcheck: "false", "aria-label": "Other settings, KEY=VALUE, one a line" }, [], { change: () => this.readOwn() });

  constructor(private readonly description: Description, words: readonly string[]) {
    this.state = parseState(description, words);
    this.ownChanges = this.state.changes;
    this.runner = new Runner(this.traces);
    const former = formerChanges(description);
    const preset = (name: string, changes: () => ReadonlyMap<string, string>) => [changes, button(name, () => this.set({ changes: changes() }))] as const;
    this.presets = [
      preset("The set", () => new Map()), ...(former.size > 0 ? [preset("The old reading", () => former)] : []), preset("Your own", () => this.ownChanges),
    ];
    const [lines, show] = assumptionElements(description, (key, value) => this.setChange(key, value));
    this.assumptions = el("div", { class: "lines" }, lines);
    this.showAssumptions = show;
    fill(this.element, ...this.layout());
    new ResizeObserver(() => this.draw()).observe(this.panels);
    this.showState();
    void this.compute();
  }

  /** Ends all runs. */
  end(): void {
    this.generation++;
    this.runner.end();
  }

  private layout(): HTMLElement[] {
    const { citation, paper, title, notes } = this.description;
    const intro = el("p", {}, [
      `The simulator computes this figure in your browser. Choose another assumption of the set for ${citation}, and see which claims turn. `,
      el("a", { href: `${paper}.html` }, ["The paper's page"]), " has whole runs with the set.",
    ]);
    const figure = el("section", { "aria-label": "Figure" }, [
      el("div", { class: "row", role: "group", "aria-label": "Presets" }, this.presets.map(([, each]) => each)),
      button("Change assumptions", () => this.assumptions.scrollIntoView(), { class: "narrow" }), this.sizeElement(), this.traceElement(),
      this.problem, this.status, this.panels, this.legend, ...notes.map((note) => el("p", { class: "quiet" }, [note])),
      el("h2", {}, ["Claims"]), this.claims,
      el("h2", {}, ["The same on the command line"]), this.command, button("Copy the command", () => void this.copy()), this.runs,
    ]);
    const set = el("section", { "aria-label": "Assumptions" }, [
      el("h2", {}, ["Assumptions"]), button("Back to the figure", () => this.panels.scrollIntoView(), { class: "narrow" }), this.assumptions,
      el("fieldset", { class: "line" }, [el("legend", {}, ["Other settings of the experiment, KEY=VALUE, one a line"]), this.own]),
    ]);
    return [el("h1", {}, [title]), intro, el("div", { class: "layout" }, [figure, set])];
  }

  /** Chooses the size of runs and their seeds; the work of a job has no further seeds. */
  private sizeElement(): HTMLElement {
    const { description, state } = this;
    const sizes = description.sizes.map((size) => [String(size), size.toLocaleString("en")] as const);
    const seeds = Array.from({ length: MAX_SEEDS }, (_, index) => [String(index + 1), index > 0 ? `1 to ${index + 1}` : "1"] as const);
    return el("div", { class: "row" }, [
      select(description.size_label, sizes, String(state.size), (size) => this.set({ size: Number(size) })),
      !isJob(description) && select("Seeds", seeds, String(state.seeds), (count) => this.set({ seeds: Number(count) })),
    ]);
  }

  /** Chooses a trace of the reader, for figures whose trace does not come with sledlab. */
  private traceElement(): HTMLElement | null {
    const part = this.description.parts.find(({ traced_toml }) => traced_toml !== undefined);
    if (!part) return null;
    const input = el("input", { type: "file" }, [], { change: () => void this.readTrace(input.files?.[0]) });
    return el("p", { class: "trace" }, [
      `The paper replays a recorded trace that is no part of sledlab; here the workload ${part.workload} stands in for it. `,
      el("label", {}, [`To replay your copy (${TRACE_HINT}; it stays in your browser): `, input]),
    ]);
  }

  private async readTrace(file: File | undefined): Promise<void> {
    this.traces = new Map(file ? [[file.name, new Uint8Array(await file.arrayBuffer())]] : []);
    this.runner.end();
    this.runner = new Runner(this.traces);
    this.set({});
  }

  private get traceName(): string {
    return [...this.traces.keys()][0] ?? "";
  }

  private set(state: Partial<State>): void {
    this.state = { ...this.state, ignored: [], ...state };
    history.replaceState(null, "", formatState(this.description, this.state));
    this.showState();
    void this.compute();
  }

  private setChange(key: string, value: string | null): void {
    const changes = new Map(this.state.changes);
    if (value === null) changes.delete(key);
    else changes.set(key, value);
    this.ownChanges = changes;
    this.set({ changes });
  }

  /** Changes by a control, or those of the reader's own settings. */
  private changesBy(isControl: boolean): [string, string][] {
    const keys = new Set(controls(this.description).map(({ key }) => key));
    return [...this.state.changes].filter(([key]) => keys.has(key) === isControl);
  }

  /** Reads the reader's own settings. */
  private readOwn(): void {
    const { changes, ignored } = parseState(this.description, this.own.value.split("\n").filter((line) => line.trim()));
    this.ownChanges = new Map([...this.changesBy(true), ...changes]);
    this.set({ changes: this.ownChanges, ignored });
  }

  private showState(): void {
    const { changes, ignored } = this.state;
    this.showAssumptions(changes);
    this.own.value = this.changesBy(false).map((pair) => pair.join("=")).join("\n");
    const isSame = (others: ReadonlyMap<string, string>) => others.size === changes.size && [...others].every(([key, value]) => changes.get(key) === value);
    const chosen = this.presets.findIndex(([preset]) => isSame(preset()));
    this.presets.forEach(([, each], index) => each.setAttribute("aria-pressed", String(index === chosen)));
    this.command.textContent = commands(this.description, this.state, this.traceName).join("\n");
    this.showProblem(ignored.length > 0 ? `Ignored, as they are not valid here: ${ignored.join(", ")}` : "");
  }

  private showProblem(text: string): void {
    this.problem.textContent = text;
    this.problem.hidden = text === "";
  }

  /** Computes a coarse answer, then that of the chosen size, then further seeds. */
  private async compute(): Promise<void> {
    const generation = ++this.generation;
    const { description, state, traceName } = this;
    const start_ms = performance.now();
    document.documentElement.dataset["stage"] = "running";
    const seeds = Array.from({ length: traceName || isJob(description) ? 1 : state.seeds }, (_, index) => index + 1);
    const stages = [[Math.min(description.sizes[0]!, state.size), 1], [state.size, 1], [state.size, seeds.length]] as const;
    try {
      for (const [index, [size, count]] of stages.entries()) {
        if (index > 0 && size === stages[index - 1]![0] && count === stages[index - 1]![1]) continue;
        const rows = await this.runner.run(tasks(description, state, traceName, size, seeds.slice(0, count)), () => generation === this.generation);
        if (!rows) return;
        [this.rows, this.shownSize] = [rows, size];
        this.show(size, count, performance.now() - start_ms, size === state.size && count === seeds.length);
      }
    } catch (error) {
      if (generation === this.generation) this.fail(error);
    }
  }

  /** Shows an error, and nothing that other settings had computed. */
  private fail(error: unknown): void {
    this.showProblem(errorText(error));
    this.status.textContent = "";
    this.rows = [];
    for (const element of [this.panels, this.legend, this.claims]) fill(element);
    this.showRuns();
    document.documentElement.dataset["stage"] = "failed";
  }

  private show(size: number, seeds: number, elapsed_ms: number, isComplete: boolean): void {
    performance.mark("answer");
    document.documentElement.dataset["stage"] = isComplete ? "done" : "coarse";
    const sizeText = `${this.description.size_label.toLowerCase()}: ${size.toLocaleString("en")}`;
    this.status.textContent = `${this.rows.length} ${isJob(this.description) ? "phases" : "runs"}; ${sizeText}${isJob(this.description) ? "" : seeds > 1 ? `; seeds 1 to ${seeds}` : "; seed 1"}; ${(elapsed_ms / 1000).toFixed(1)} s${isComplete ? "." : "; refining …"}`;
    // Tests compare all digits with those of the command line.
    Object.assign(globalThis, { exploredRows: this.rows });
    this.draw();
    this.showClaims();
    this.showRuns();
  }

  private draw(): void {
    if (this.rows.length === 0) return;
    const { panels } = this.description;
    const rowCount = Math.ceil(panels.length / Math.max(1, Math.floor(this.panels.clientWidth / MIN_PANEL_PX)));
    const columns = Math.ceil(panels.length / rowCount);
    const width = Math.floor((this.panels.clientWidth - (columns - 1) * GAP_PX) / columns) - 2 * BORDER_PX;
    const drawings = panels.map((panel) => drawPanel(panel, this.rows, width, this.shownSize));
    fill(this.panels, ...drawings.map(({ svg }, index) => el("figure", {}, [el("figcaption", {}, [panels[index]!.title]), svg])));
    const entries = new Map(drawings.flatMap(({ legend }) => [...legend]));
    if (this.rows.some(({ isOverloaded }) => isOverloaded)) entries.set("hollow: the queue kept growing", { class: "ring" });
    fill(this.legend, ...[...entries].map(([text, swatch]) => el("li", {}, [el("i", swatch), text])));
  }

  private showClaims(): void {
    const judged = this.description.claims.map((claim) => [claim, judge(claim, this.rows)] as const).sort(([, one], [, other]) => Number(other !== null) - Number(one !== null));
    const rows = judged.map(([claim, judgment]) => {
      const here = judgment ? `${judgment.outcome}: ${judgment.text}` : "not computed here";
      const link = el("a", { href: `${this.description.paper}.html#${claim.id.toLowerCase()}` }, [claim.id]);
      const cells = [link, claim.claim, claim.published, here, `${claim.outcome}${claim.ours ? `: ${claim.ours}` : ""}`];
      return el("tr", { "data-claim": claim.id, class: judgment ? "judged" : "" }, cells.map((cell, index) => el("td", { "data-head": CLAIM_COLUMNS[index]! }, [cell])));
    });
    const head = CLAIM_COLUMNS.map((name) => el("th", { scope: "col" }, [name]));
    fill(this.claims, el("table", { class: "claims" }, [el("thead", {}, [el("tr", {}, head)]), el("tbody", {}, rows)]));
  }

  private showRuns(): void {
    this.runs.querySelector("div")?.remove();
    const [first] = this.rows;
    if (!this.runs.open || !first) return;
    const labels = Object.keys(first.labels);
    const columns = Object.keys(first.values).filter((name) => Number.isFinite(first.values[name]));
    const head = ["experiment", ...labels, "seed", ...columns, "checksum"].map((name) => el("th", { scope: "col" }, [name]));
    const rows = this.rows.map((row) => el("tr", {}, [row.place, ...labels.map((name) => label(row.labels[name])), row.seed, ...columns.map((name) => formatNumber(row.values[name]!, 6)), row.checksum].map((text) => el("td", {}, [text]))));
    this.runs.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" }, [el("table", {}, [el("thead", {}, [el("tr", {}, head)]), el("tbody", {}, rows)])]));
  }

  private async copy(): Promise<void> {
    const isCopied = await navigator.clipboard?.writeText(this.command.textContent ?? "").then(() => true, () => false);
    if (!isCopied) getSelection()?.selectAllChildren(this.command);
    this.status.textContent = isCopied ? "The command is on the clipboard." : "The command is selected: copy it.";
  }
}
