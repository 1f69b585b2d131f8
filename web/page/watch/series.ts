// Charts of the whole run: queue length and response times over time, with the present marked.

import { el, fill, setAttribute } from "../dom.ts";
import { Plot, addPlotMenu } from "../chart.ts";
import { BLUE, SKY, VERMILION } from "../palette.ts";
import { formatCount } from "../format.ts";
import { overloadWarning } from "../overload.ts";
import { computeSeries, type Overview } from "./overview.ts";

const BUCKETS = 600;
const SIMULATING = "simulating the whole run …";

export class SeriesPanel {
  readonly element: HTMLElement;
  private readonly title = el("span", { class: "quiet" }, [SIMULATING]);
  private readonly overload = overloadWarning(false);
  private readonly presentLine = el("i", { class: "now", "aria-hidden": "true" });
  private readonly queue: Plot;
  private readonly response: Plot;
  private readonly resetButton: HTMLButtonElement;
  /** Place of the progress bar of the run. */
  readonly progress = el("div");
  private overview: Overview | null = null;

  constructor(jump: (t: number) => void) {
    const [above, below] = [el("div"), el("div")];
    const common = {
      height: 104, syncKey: "run",
      onZoom: (from: number | null, to: number | null) => this.zoom(from, to),
      onClick: (t: number) => jump(t * 1e9),
    };
    this.queue = new Plot(above, { ...common, label: "Requests waiting over time", xLabel: "", yLabel: "waiting", curves: [{ label: "requests waiting, mean", color: BLUE, fill: "#0072b21f" }] });
    this.response = new Plot(below, {
      ...common, height: 122, label: "Response time over time", xLabel: "simulated time, s", yLabel: "response, ms",
      curves: [{ label: "longest", color: VERMILION }, { label: "mean", color: SKY }],
    });
    this.resetButton = el("button", { type: "button", class: "plain", hidden: true }, ["show all of it"], { click: () => this.zoom(null, null) });
    this.element = el("section", { class: "card wide", "aria-labelledby": "series-title" }, [
      el("h2", { id: "series-title" }, ["The whole run", this.title, el("span", { class: "grow" }), this.resetButton]),
      this.progress, this.overload, el("div", { class: "series" }, [above, below, this.presentLine]),
    ]);
    addPlotMenu(this.element, "The whole run", [this.queue, this.response]);
    setAttribute(this.element, "data-tour", "series");
  }

  /** Forgets the run that it shows, as another one begins. */
  clear(): void {
    this.overview = null;
    this.resetButton.hidden = true;
    this.overload.hidden = true;
    fill(this.title, SIMULATING);
    this.queue.set([[], []]);
    this.response.set([[], [], []]);
  }

  /** Says that the reader has stopped the run. */
  showStopped(): void {
    fill(this.progress);
    fill(this.title, "the run was stopped: the stage still plays");
  }

  show(overview: Overview, isSaturated: boolean): void {
    this.overview = overview;
    this.overload.hidden = !isSaturated;
    const warmupNote = overview.warmupRequests > 0 ? `, the first ${overview.warmupRequests.toLocaleString("en")} of them warm-up` : "";
    fill(this.title, `${formatCount(overview.requests, "request")}${warmupNote}; drag to zoom, click to go there`);
    this.zoom(null, null);
  }

  /** Marks the present. */
  mark(t: number): void {
    const left_px = this.queue.pixelPosition(t / 1e9);
    this.presentLine.hidden = left_px === null;
    if (left_px !== null) this.presentLine.style.transform = `translateX(${left_px.toFixed(1)}px)`;
  }

  private zoom(from_s: number | null, to_s: number | null): void {
    if (!this.overview) return;
    this.resetButton.hidden = from_s === null;
    const end_ns = this.overview.end_ns;
    const series = computeSeries(this.overview, BUCKETS, from_s === null ? 0 : Math.max(0, from_s * 1e9), to_s === null ? end_ns : Math.min(end_ns, to_s * 1e9));
    this.queue.set([series.times_s, series.queue]);
    this.response.set([series.times_s, series.longest_ms, series.mean_ms]);
  }
}
