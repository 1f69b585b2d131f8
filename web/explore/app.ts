// A figure of a paper that the reader computes: controls, panels, claims and the equivalent command.

import { button, el, fill, select } from "../page/dom.ts";
import { errorText } from "../page/engine.ts";
import { formatNumber } from "../page/format.ts";
import { assumptionElements } from "./assumptions.ts";
import { drawPanel, drawStack, isDrawn, partColor, seriesColor } from "./chart.ts";
import type { Description, Panel } from "./description.ts";
import { Runner, type Row } from "./runs.ts";
import { commands, controls, formatState, formerChanges, parseState, tasks, type State } from "./state.ts";
import { judge, label, panelParts, panelSeries, type Series } from "./values.ts";

const MAX_SEEDS = 5;
const [MIN_PANEL_PX, GAP_PX, BORDER_PX] = [320, 14, 1];
const CLAIM_COLUMNS = ["claim", "says", "published", "here", "whole runs, the set"];
/** The trace that figures of Lin replay. */
const TRACE_HINT = "seagate_gap.txt of DiskSim";

export class Figure {
  readonly element = el("main", {});
  private state: State;
  private runner: Runner;
  private rows: readonly Row[] = [];
  private shownSize = 1;
  private traces = new Map<string, Uint8Array>();
  /** Counts changes: runs of earlier states are no longer wanted. */
  private generation = 0;
  /** Changes of the reader, to return to from a preset. */
  private ownChanges: ReadonlyMap<string, string> = new Map();
  private readonly presets = el("div", { class: "row", role: "group", "aria-label": "Presets" });
  private readonly size = el("div", { class: "row" });
  private readonly status = el("p", { class: "status", role: "status" });
  private readonly problem = el("p", { class: "problem", role: "alert", hidden: true });
  private readonly panels = el("div", { class: "panels" });
  private readonly legend = el("ul", { class: "legend" });
  private readonly claims = el("div");
  private readonly command = el("pre", { tabindex: 0, "aria-label": "Command" });
  private readonly runs = el("details", { class: "runs" }, [el("summary", {}, ["All runs, with checksums"])]);
  private readonly lines = el("div", { class: "lines" });
  private readonly own = el("textarea", { rows: 3, spellcheck: "false", "aria-label": "Other settings, KEY=VALUE, one a line", placeholder: "device.sleds=4" });

  constructor(private readonly description: Description, words: readonly string[]) {
    this.state = parseState(description, words);
    this.ownChanges = this.state.changes;
    this.runner = new Runner(this.traces);
    this.own.addEventListener("change", () => this.readOwn());
    this.runs.addEventListener("toggle", () => this.showRuns());
    fill(this.element, ...this.layout());
    new ResizeObserver(() => this.draw()).observe(this.panels);
    this.showControls();
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
      this.presets, button("Change assumptions", () => this.lines.scrollIntoView(), { class: "narrow" }), this.size, this.traceElement(), this.problem, this.status, this.panels, this.legend, ...notes.map((note) => el("p", { class: "quiet" }, [note])),
      el("h2", {}, ["Claims"]), this.claims, el("h2", {}, ["The same on the command line"]), this.command, button("Copy the command", () => void this.copy()), this.runs,
    ]);
    const set = el("section", { "aria-label": "Assumptions" }, [
      el("h2", {}, ["Assumptions"]), this.lines, el("fieldset", { class: "line" }, [el("legend", {}, ["Other settings of the experiment, KEY=VALUE, one a line"]), this.own]),
    ]);
    return [el("h1", {}, [title]), intro, el("div", { class: "layout" }, [figure, set])];
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

  /** Whether the figure is of a job, whose work has no further seeds. */
  private get isJob(): boolean {
    return this.description.parts.some(({ records }) => records !== undefined);
  }

  private get traceName(): string {
    return [...this.traces.keys()][0] ?? "";
  }

  private set(state: Partial<State>): void {
    this.state = { ...this.state, ...state };
    if (location.protocol !== "about:") history.replaceState(null, "", formatState(this.description, this.state));
    this.showControls();
    void this.compute();
  }

  private setChange(key: string, value: string | null): void {
    const changes = new Map(this.state.changes);
    if (value === null) changes.delete(key);
    else changes.set(key, value);
    this.ownChanges = changes;
    this.set({ changes });
  }

  /** Reads the reader's own settings, which are those without a control. */
  private readOwn(): void {
    const known = new Set(controls(this.description).map(({ key }) => key));
    const pairs = this.own.value.split("\n").filter((line) => line.includes("=")).map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1).trim()] as const);
    const changes = new Map([...[...this.state.changes].filter(([key]) => known.has(key)), ...pairs]);
    this.ownChanges = changes;
    this.set({ changes });
  }

  private showControls(): void {
    const { description, state } = this;
    const known = new Set(controls(description).map(({ key }) => key));
    const focusedKey = (document.activeElement as HTMLElement | null)?.dataset["key"];
    fill(this.lines, ...assumptionElements(description, state.changes, (key, value) => this.setChange(key, value)));
    if (focusedKey) this.lines.querySelector<HTMLElement>(`[data-key="${focusedKey}"]`)?.focus();
    this.own.value = [...state.changes].filter(([key]) => !known.has(key)).map((pair) => pair.join("=")).join("\n");
    this.showPresets();
    const sizes = description.sizes.map((size) => [String(size), size.toLocaleString("en")] as const);
    fill(this.size,
      select(description.size_label, sizes, String(state.size), (size) => this.set({ size: Number(size) })),
      !this.isJob && select("Seeds", Array.from({ length: MAX_SEEDS }, (_, index) => [String(index + 1), index ? `1 to ${index + 1}` : "1"] as const), String(state.seeds), (seeds) => this.set({ seeds: Number(seeds) })));
    this.command.textContent = commands(description, state, this.traceName).join("\n");
  }

  private showPresets(): void {
    const former = formerChanges(this.description);
    const isSame = (changes: ReadonlyMap<string, string>) => changes.size === this.state.changes.size && [...changes].every(([key, value]) => this.state.changes.get(key) === value);
    const presets: [string, ReadonlyMap<string, string>, boolean][] = [["The set", new Map(), isSame(new Map())]];
    if (former.size > 0) presets.push(["The old reading", former, isSame(former)]);
    const isOwn = !presets.some(([, , isChosen]) => isChosen);
    presets.push(["Your own", this.ownChanges, isOwn]);
    fill(this.presets, ...presets.map(([name, changes, isChosen]) => button(name, () => this.set({ changes }), { "aria-pressed": String(isChosen) })));
  }

  /** Computes a coarse answer, then that of the chosen size, then further seeds. */
  private async compute(): Promise<void> {
    const generation = ++this.generation;
    const { description, state, traceName } = this;
    const start_ms = performance.now();
    document.documentElement.dataset["stage"] = "running";
    this.problem.hidden = true;
    const seeds = Array.from({ length: traceName || this.isJob ? 1 : state.seeds }, (_, index) => index + 1);
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

  private fail(error: unknown): void {
    this.problem.hidden = false;
    this.problem.textContent = errorText(error);
    this.status.textContent = "";
    document.documentElement.dataset["stage"] = "failed";
  }

  private show(size: number, seeds: number, elapsed_ms: number, isComplete: boolean): void {
    const { dataset } = document.documentElement;
    dataset["elapsed"] = [...(dataset["stage"] === "running" ? [] : [dataset["elapsed"]]), Math.round(elapsed_ms)].join(" ");
    dataset["stage"] = isComplete ? "done" : "coarse";
    const sizeText = `${this.description.size_label.toLowerCase()}: ${size.toLocaleString("en")}`;
    this.status.textContent = `${this.rows.length} ${this.isJob ? "phases" : "runs"}; ${sizeText}; ${seeds > 1 ? `seeds 1 to ${seeds}` : "seed 1"}; ${(elapsed_ms / 1000).toFixed(1)} s${isComplete ? "." : "; refining …"}`;
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
    fill(this.panels, ...panels.map((panel) => el("figure", {}, [el("figcaption", {}, [panel.title]), this.drawing(panel, width)])));
    this.showLegend();
  }

  private drawing(panel: Panel, width: number): SVGSVGElement {
    return panel.kind === "stack" ? drawStack(panel, this.stackParts(panel), width, this.shownSize) : drawPanel(panel, panelSeries(panel, this.rows), width);
  }

  private stackParts(panel: Panel): Map<string, Series> {
    return new Map(panelParts(panel).map(([name, column]) => [name, panelSeries(panel, this.rows, column)]));
  }

  private showLegend(): void {
    const entries = new Map<string, HTMLElement>();
    for (const panel of this.description.panels) {
      const series = panelSeries(panel, this.rows);
      for (const name of series.keys()) {
        if (panel.series && panel.kind !== "stack") entries.set(name, el("li", {}, [el("i", { style: `background: ${seriesColor(series, name)}` }), panel.names[name] ?? name]));
      }
      if (panel.kind === "stack") {
        const parts = this.stackParts(panel);
        for (const part of parts.keys()) entries.set(part, el("li", {}, [el("i", { style: `background: ${partColor(parts, part)}` }), part]));
      }
      for (const statement of panel.printed) {
        if (isDrawn(statement, series)) entries.set(statement.text, el("li", {}, [el("i", { class: "band" }), statement.text]));
      }
    }
    if (this.rows.some(({ isOverloaded }) => isOverloaded)) entries.set("overloaded", el("li", {}, [el("i", { class: "ring" }), "hollow: the queue kept growing"]));
    fill(this.legend, ...entries.values());
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
