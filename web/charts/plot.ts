// An interactive plot: frame, controls, zoom and keys. `Curves`, `Bars` and `TimeMap` draw its contents.

import uPlot from "uplot";
import { append } from "./dom.ts";
import type { Drawing } from "./menu.ts";
import { formatNumber, isolatedIndexes } from "./numbers.ts";
import { FAINT, INK, QUIET, SERIES, adaptiveColor, onTheme, themed } from "./palette.ts";
import type { PanelData, SeriesData } from "./panel.ts";
import type { LegendEntry } from "./svg.ts";
import { linearTicks, logTicks, tickText } from "./ticks.ts";

export const FONT = "12px system-ui, 'DejaVu Sans', sans-serif";
/** Width of an average character of `FONT`, in pixels. */
export const CHARACTER_PX = 6.8;

let measuringPen: CanvasRenderingContext2D | undefined;

/** Returns the width of a text in pixels of the page. */
export function textWidth(text: string, bold = false): number {
  measuringPen ??= document.createElement("canvas").getContext("2d")!;
  measuringPen.font = bold ? `bold ${FONT}` : FONT;
  return measuringPen.measureText(text).width;
}

type Values = readonly (number | null)[];

/** All plots of the page: panels with the same `together` zoom and select series together. */
const plots: Plot[] = [];

/** Returns the labels of both axes of a chart, as JSON. */
export function tickLabels(chart: uPlot): string {
  return JSON.stringify(chart.axes.map((axis) => (axis as unknown as { _values: (string | null)[] | null })._values?.filter(Boolean) ?? []));
}

/** Returns the points of a curve that only marks values without a neighbor: no line shows these. */
export function isolatedPoints(color: string): uPlot.Series.Points {
  const filter = (chart: uPlot, series: number, isShown: boolean) => (isShown ? null : isolatedIndexes(chart.data[series]!));
  return { show: false, size: 5, fill: color, filter: filter as uPlot.Series.Points.Filter };
}

export abstract class Plot implements Drawing {
  readonly element: HTMLElement;
  protected chart!: uPlot;
  protected readonly isPicked: boolean[];
  protected readonly colors: string[];
  protected readonly surface: HTMLElement;
  protected readonly readout: HTMLElement;
  /** The elements that show the values at the cursor, by series. */
  protected chipTexts: HTMLElement[] = [];
  /** What a screen reader says of the values at the cursor. */
  protected spokenText = "";
  protected isLog: boolean;
  /** Numbers of the series in drawing order: the last one is on top. */
  protected order: number[] = [];
  /** Values of the series as drawn, in this order. */
  protected layers: Values[] = [];
  private readonly announcement: HTMLElement;

  protected constructor(
    readonly panel: PanelData, holder: Element, readonly title: string, protected readonly height: number,
    protected readonly xs: number[],
  ) {
    this.isLog = panel.logY === true;
    this.isPicked = panel.series.map((series) => !series.gray);
    this.colors = panel.series.map((series, index) => (series.gray ? SERIES[index % SERIES.length]! : series.color));
    this.element = append("div", holder, "", { class: "live" });
    const header = append("div", this.element, "", { class: "live-head" });
    append("span", header, panel.yName, { class: "live-name" });
    if (this.hasLogScale()) this.addScaleButton(header);
    append("button", header, "All", { type: "button", "aria-label": `Show all of ${title}: ${panel.yName}` }).onclick = () => this.zoom(0);
    this.surface = append("div", this.element, "", {
      class: "live-plot", tabindex: 0, role: "group",
      "aria-label": `${title}: ${panel.yName} over ${panel.xName}. Arrow keys move, plus and minus zoom, 0 shows all.`,
    });
    this.readout = append("p", this.element, "", { class: "live-place" });
    this.announcement = append("p", this.element, "", { class: "live-aloud", "aria-live": "polite" });
    if (panel.series.length > 1) this.addChips();
    this.surface.onkeydown = (event) => this.onKey(event);
    plots.push(this);
  }

  get canvas(): HTMLCanvasElement {
    return this.chart.ctx.canvas;
  }

  /** Paints the plot again, with new paths and the present scales. */
  repaint(): void {
    this.chart.batch((chart: uPlot) => {
      chart.setData(chart.data, false);
      chart.redraw(false);
    });
  }

  legend(): readonly LegendEntry[] {
    const { series } = this.panel;
    const unnamedSeries = series.flatMap((_, index) => (series.length > 1 && this.isPicked[index] && !this.namedSeries.includes(index) ? [index] : []));
    return unnamedSeries.map((index) => ({ name: series[index]!.name, color: themed(this.colors[index]!), width: textWidth(series[index]!.name) }));
  }

  /** Series whose names stand in the plot. */
  protected get namedSeries(): readonly number[] {
    return [];
  }

  abstract table(): (string | number | null)[][];
  /** Sets `order` and `layers`. */
  protected abstract arrange(): void;
  protected abstract seriesOptions(series: SeriesData, index: number): uPlot.Series;
  protected abstract yRange(low: number | null, high: number | null): [number, number];
  protected abstract axes(): uPlot.Axis[];
  /** Draws what uPlot does not. */
  protected abstract overlay(chart: uPlot): void;
  /** Shows the values at the cursor. */
  protected abstract describe(index: number | null | undefined): void;
  /** Moves the cursor by so many steps to the right and rows down. */
  protected abstract walk(steps: number, rows: number): void;

  protected hasLogScale(): boolean {
    return false;
  }

  /** Whether the plot has rows, over which up and down keys move. */
  protected get hasRows(): boolean {
    return false;
  }

  /** Whether the y axis points down. */
  protected get isUpsideDown(): boolean {
    return false;
  }

  /** Share of the height, at the top, that has no scale. */
  protected shareAbove(): number {
    return 0;
  }

  /** Free pixels above and to the right of the plot. */
  protected margins(): { top: number; right: number } {
    return { top: 8, right: 12 };
  }

  /** Draws the plot; to be called by each class when it is complete. */
  protected begin(): void {
    this.draw();
    new ResizeObserver(() => {
      const width = this.surface.clientWidth;
      if (width && width !== this.chart.width) this.draw();
    }).observe(this.surface);
    onTheme(() => this.draw());
  }

  private get linkedPlots(): Plot[] {
    const { together } = this.panel;
    return together ? plots.filter((plot) => plot.panel.together === together) : [this];
  }

  private addScaleButton(header: Element): void {
    const button = append("button", header, "Log", {
      type: "button", "aria-pressed": this.isLog, "aria-label": `Log: logarithmic scale of ${this.title}: ${this.panel.yName}`,
    });
    button.onclick = () => {
      this.isLog = !this.isLog;
      button.setAttribute("aria-pressed", String(this.isLog));
      this.draw();
    };
  }

  private addChips(): void {
    const chips = append("div", this.element, "", { class: "live-chips", role: "group", "aria-label": `Series of ${this.title}` });
    this.chipTexts = this.panel.series.map((series, index) => {
      const chip = append("button", chips, "", { type: "button", "aria-pressed": this.isPicked[index]! });
      append("i", chip).style.background = adaptiveColor(this.colors[index]!);
      append("b", chip, series.name);
      chip.onclick = () => {
        const isPicked = !this.isPicked[index];
        for (const plot of this.linkedPlots) plot.pick(series.name, isPicked);
      };
      chip.onpointerenter = chip.onfocus = () => this.highlight(series.name);
      chip.onpointerleave = chip.onblur = () => this.highlight(null);
      return append("span", chip);
    });
  }

  /** Fades all series but one; none for null. */
  private highlight(name: string | null): void {
    for (const { chart, order, panel } of this.linkedPlots) {
      const position = order.findIndex((index) => panel.series[index]!.name === name);
      chart.setSeries(position < 0 ? null : position + 1, { focus: position >= 0 });
    }
  }

  private pick(name: string, isPicked: boolean): void {
    const index = this.panel.series.findIndex((series) => series.name === name);
    if (index < 0) return;
    this.isPicked[index] = isPicked;
    this.chipTexts[index]!.parentElement!.setAttribute("aria-pressed", String(isPicked));
    this.draw();
  }

  /** Draws the plot anew, with the present zoom. */
  private draw(): void {
    const previousScale = (this.chart as uPlot | undefined)?.scales["x"];
    (this.chart as uPlot | undefined)?.destroy();
    this.arrange();
    const { panel } = this;
    const { top, right } = this.margins();
    this.chart = new uPlot({
      width: this.surface.clientWidth || 480,
      height: this.height,
      padding: [top, Math.max(right, this.lastTickRoom()), 0, 0],
      legend: { show: false },
      focus: { alpha: 0.2 },
      cursor: {
        ...(panel.together ? { sync: { key: panel.together, scales: ["x", null] } } : {}),
        y: false, drag: { x: true, y: false }, points: { show: !this.hasRows },
      },
      scales: {
        x: { time: false, distr: panel.logX ? 3 : 1, range: (_, low, high) => this.xRange(low, high) },
        y: { distr: this.isLog ? 3 : 1, dir: this.isUpsideDown ? -1 : 1, range: (_, low, high) => this.yRange(low, high) },
      },
      axes: this.axes(),
      series: [{}, ...this.order.map((index) => this.seriesOptions(panel.series[index]!, index))],
      hooks: {
        setScale: [(chart, key) => {
          if (key === "x") this.surface.dataset["shown"] = `${chart.scales["x"]!.min} ${chart.scales["x"]!.max}`;
        }],
        setCursor: [(chart) => {
          if (this.chart === chart) this.describe(chart.cursor.idx);
        }],
        draw: [(chart) => {
          // uPlot remembers the font and the colors that it has set: they have to be the same at its next drawing.
          chart.ctx.save();
          this.overlay(chart);
          chart.ctx.restore();
          this.publish(chart);
        }],
      },
    } as uPlot.Options, [this.xs, ...this.layers] as uPlot.AlignedData, this.surface);
    if (previousScale?.min !== undefined && previousScale.max !== undefined && previousScale.min !== null) this.chart.setScale("x", { min: previousScale.min, max: previousScale.max! });
  }

  /** Gives tests the labels of both axes: they are pixels otherwise. */
  private publish(chart: uPlot): void {
    this.surface.dataset["ticks"] = tickLabels(chart);
    this.surface.dataset["positions"] = String(this.xs.length);
  }

  protected xRange(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null) return [0, 1];
    if (low === high) return [low - 0.5, high + 0.5];
    const isWhole = low === this.xs[0] && high === this.xs[this.xs.length - 1];
    return this.panel.logX && isWhole ? [low / 1.04, high * 1.04] : [low, high];
  }

  /** Returns an axis with numbers; `isVertical` for that of y. */
  protected numberAxis(label: string, isVertical: boolean): uPlot.Axis {
    const ticksWithin = (chart: uPlot, _axis: number, low: number, high: number) => {
      const scale = chart.scales[isVertical ? "y" : "x"]!;
      const pixels = isVertical ? chart.bbox.height : chart.bbox.width;
      const widest_px = isVertical ? 26 : Math.max(tickText(high).length, tickText(low).length, 4) * CHARACTER_PX + 16;
      const count = Math.max(3, Math.floor(pixels / devicePixelRatio / widest_px) + 1);
      if (!isVertical) return scale.distr === 3 ? logTicks(low, high, count) : linearTicks(low, high, count);
      const shareBelow = 1 - this.shareAbove();
      return scale.distr === 3 ? logTicks(low, low * (high / low) ** shareBelow, count) : linearTicks(low, low + (high - low) * shareBelow, count);
    };
    return { ...this.axisStyle(label), splits: ticksWithin, filter: (_, splits) => splits, values: (_, splits) => splits.map(tickText) };
  }

  /** Returns an axis with a name at each of the positions 0, 1, 2 ... plus `shift`. */
  protected nameAxis(label: string, names: readonly string[], shift = 0): uPlot.Axis {
    const isVisible = (chart: uPlot, position: number) => shift > 0 || (position >= chart.scales["x"]!.min! && position <= chart.scales["x"]!.max!);
    return {
      ...this.axisStyle(label), grid: { show: false },
      splits: (chart) => this.spacedPositions(chart, names, names.map((_, index) => index + shift).filter((position) => isVisible(chart, position)), shift),
      filter: (_, splits) => splits,
      values: (_, splits) => splits.map((position) => names[Math.round(position - shift)]!),
    };
  }

  /** Every position, or every second, third ... where their names would overlap. */
  private spacedPositions(chart: uPlot, names: readonly string[], positions: number[], shift: number): number[] {
    if (shift > 0) return positions;
    const widest_px = Math.max(...names.map((name) => name.length)) * CHARACTER_PX + 8;
    const stride = Math.max(1, Math.ceil((widest_px * positions.length) / (chart.bbox.width / devicePixelRatio || 400)));
    return positions.filter((_, index) => index % stride === 0);
  }

  /** Pixels to the right of the plot for the second half of the x axis's last label, which may stand at the end. */
  protected lastTickRoom(): number {
    const { xs, panel: { rows, steps } } = this;
    // Steps have half a step of room.
    if (steps && !rows) return Math.max(0, textWidth(steps[steps.length - 1]!) / 2 - (0.6 * this.surface.clientWidth) / (steps.length + 2));
    const labels = [xs[0]!, xs[xs.length - 1]!].flatMap((x) => [tickText(x), formatNumber(x)]);
    return Math.max(...labels.map((label) => textWidth(label))) / 2 + 2;
  }

  private axisStyle(label: string): uPlot.Axis {
    const lineColor = themed(FAINT);
    return {
      stroke: themed(QUIET), font: FONT, labelFont: FONT, labelSize: 18, labelGap: 0, gap: 3, ...(label ? { label } : {}),
      size: (_, labels, axis) => (axis === 0 ? 28 : Math.max(30, Math.max(0, ...(labels ?? []).map((text) => text.length)) * CHARACTER_PX + 14)),
      grid: { stroke: lineColor, width: 1 }, ticks: { stroke: lineColor, width: 1, size: 4 },
    };
  }

  private onKey(event: KeyboardEvent): void {
    const steps = ({ ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0) * (event.shiftKey ? 10 : 1);
    const rows = this.hasRows ? ({ ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0) : 0;
    const factor = { "+": 0.5, "=": 0.5, "-": 2, "0": 0, Escape: 0 }[event.key];
    if (!steps && !rows && factor === undefined) return;
    event.preventDefault();
    if (factor !== undefined) {
      this.zoom(factor);
      return;
    }
    this.walk(steps, rows);
    this.announcement.textContent = [this.readout.textContent, this.spokenText].filter(Boolean).join(": ");
  }

  /** Puts the cursor at a position, and at a height in pixels. */
  protected move(x: number, top?: number): void {
    const { min, max } = this.range;
    if (x < min || x > max) this.setRange(x - (max - min) / 2, x + (max - min) / 2);
    this.chart.setCursor({ left: this.chart.valToPos(x, "x") + 0.01, top: top ?? this.chart.over.clientHeight / 2 });
  }

  protected get range(): { min: number; max: number } {
    const { min, max } = this.chart.scales["x"]!;
    return { min: min ?? 0, max: max ?? 1 };
  }

  /** Zooms by a factor around the cursor; 0 shows all. */
  private zoom(factor: number): void {
    const { chart, xs, panel } = this;
    const [first, last] = [xs[0]!, xs[xs.length - 1]!];
    if (factor === 0) {
      this.setRange(first, last);
      return;
    }
    const { min, max } = this.range;
    const [toAxis, fromAxis] = panel.logX ? [Math.log, Math.exp] : [(x: number) => x, (x: number) => x];
    const center = (chart.cursor.left ?? 0) > 0 ? chart.posToVal(chart.cursor.left!, "x") : fromAxis((toAxis(min) + toAxis(max)) / 2);
    const [low, high] = [min, max].map((edge) => fromAxis(toAxis(center) + (toAxis(edge) - toAxis(center)) * factor)) as [number, number];
    if (low <= first && high >= last) this.setRange(first, last);
    else this.setRange(Math.max(low, first), Math.min(high, last));
  }

  private setRange(min: number, max: number): void {
    for (const plot of this.linkedPlots) plot.chart.setScale("x", { min, max });
  }

  /** Writes a text onto the canvas; sizes are in pixels of the page. */
  protected write(text: string, x: number, y: number, style: { color?: string; align?: CanvasTextAlign; bold?: boolean; size?: number } = {}): void {
    const { ctx } = this.chart;
    const { color = INK, align = "left", bold = false, size = 12 } = style;
    ctx.font = `${bold ? "bold " : ""}${size * devicePixelRatio}px system-ui, 'DejaVu Sans', sans-serif`;
    ctx.fillStyle = color === INK ? themed(INK) : color;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y);
  }
}
