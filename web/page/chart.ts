// Curves over a common axis, by uPlot: one look for all charts of the page.

import uPlot from "uplot";
import { formatNumber } from "./format.ts";
import { linearTicks, logTicks, roundDown, roundUp, tickText } from "../charts/ticks.ts";
import { isolatedPoints, tickLabels } from "../charts/plot.ts";
import { addSaveMenu, type Drawing } from "../charts/menu.ts";
import { FAINT, QUIET, onTheme, themed } from "../charts/palette.ts";

export interface Curve {
  readonly label: string;
  readonly color: string;
  readonly dash?: readonly number[];
  readonly fill?: string;
}

export interface Chart {
  readonly label: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly curves: readonly Curve[];
  readonly height: number;
  /** Whether the x axis has powers of ten, unless no value of x is positive. */
  readonly isLogX?: boolean;
  /** Whether curves keep each value until the next. */
  readonly hasSteps?: boolean;
  /** Name of a cursor: charts with the same name share it. */
  readonly syncKey?: string;
  /** Called with the range of x that was dragged over; with nulls for the whole range. */
  readonly onZoom?: (from: number | null, to: number | null) => void;
  readonly onClick?: (x: number) => void;
}

export type Values = readonly (readonly (number | null)[])[];

/** A chart in an element: draws itself anew when the element's width or the theme changes, until it is destroyed. */
export class Plot implements Drawing {
  private plot: uPlot | null = null;
  private isLogarithmic = false;
  private readonly ignoreTheme = onTheme(() => this.recreate());
  private values: Values;
  private names: readonly string[];
  private readonly resizeObserver = new ResizeObserver(() => this.fit());

  constructor(readonly element: HTMLElement, private readonly chart: Chart) {
    this.names = chart.curves.map(({ label }) => label);
    this.values = [[], ...chart.curves.map(() => [])];
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", chart.label);
    this.resizeObserver.observe(element);
  }

  /** Removes the chart with its listeners. */
  destroy(): void {
    this.ignoreTheme();
    this.resizeObserver.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  set(values: Values): void {
    const hadLogX = this.hasLogX;
    this.values = values;
    if (this.hasLogX !== hadLogX) this.recreate();
    else if (this.plot) this.plot.setData(this.drawnValues());
    else this.fit();
  }

  get canvas(): HTMLCanvasElement | null {
    return this.plot?.ctx.canvas ?? null;
  }

  /** Head and rows of the numbers drawn. */
  table(): (string | number | null)[][] {
    const { xLabel, yLabel } = this.chart;
    const header = [xLabel || "x", ...this.names.map((name) => `${name}: ${yLabel}`)];
    return [header, ...this.values[0]!.map((_, row) => this.values.map((column) => column[row] ?? null))];
  }

  /** Makes the y axis logarithmic or linear. */
  toggleScale(): void {
    this.isLogarithmic = !this.isLogarithmic;
    this.recreate();
  }

  /** Gives the curves other names. */
  rename(names: readonly string[]): void {
    this.names = names;
    // The first label is that of the x axis.
    const labels = [...this.element.querySelectorAll(".u-legend .u-label")].slice(1);
    labels.forEach((label, index) => (label.textContent = names[index]!));
  }

  /** Where a value of the x axis lies, in pixels of the host element; null where it is outside of the chart. */
  pixelPosition(x: number): number | null {
    const plot = this.plot;
    if (!plot || plot.data[0].length === 0) return null;
    const left = plot.valToPos(x, "x");
    return left >= 0 && left <= plot.over.clientWidth ? left + plot.over.offsetLeft : null;
  }

  private get hasLogX(): boolean {
    return Boolean(this.chart.isLogX) && this.values[0]!.some((x) => x! > 0);
  }

  /** The values that the axes can show: a logarithmic y axis has gaps for others, a logarithmic x axis begins at the first positive x. */
  private drawnValues(): uPlot.AlignedData {
    const firstDrawn = this.hasLogX ? this.values[0]!.findIndex((x) => x! > 0) : 0;
    const [x, ...yColumns] = firstDrawn > 0 ? this.values.map((column) => column.slice(firstDrawn)) : this.values;
    const drawnColumns = this.isLogarithmic ? yColumns.map((column) => column.map((value) => (value !== null && value > 0 ? value : null))) : yColumns;
    return [x, ...drawnColumns] as uPlot.AlignedData;
  }

  private recreate(): void {
    this.plot?.destroy();
    this.plot = null;
    this.fit();
  }

  private fit(): void {
    const width = this.element.clientWidth;
    if (width === 0 || this.values[0]!.length === 0) return;
    if (this.plot) {
      if (this.plot.width !== width) this.plot.setSize({ width, height: this.chart.height });
    } else this.plot = new uPlot(this.options(width), this.drawnValues(), this.element);
  }

  private options(width: number): uPlot.Options {
    const { chart, hasLogX } = this;
    const format = (value: number | null) => (value === null || value === undefined ? "–" : formatNumber(value, 4));
    return {
      width,
      height: chart.height,
      legend: { live: chart.curves.length > 0 },
      cursor: { ...(chart.syncKey ? { sync: { key: chart.syncKey, filters: { pub: isMovement, sub: isMovement } } } : {}), points: { size: 6 }, drag: { x: Boolean(chart.onZoom), y: false, setScale: false } },
      scales: {
        x: { time: false, distr: hasLogX ? 3 : 1, ...(hasLogX ? { range: logRange } : {}) },
        y: { distr: this.isLogarithmic ? 3 : 1, range: this.isLogarithmic ? logRange : rangeFromZero },
      },
      axes: [axis(chart.xLabel, false, hasLogX), axis(chart.yLabel, true, this.isLogarithmic)],
      series: [
        { label: chart.xLabel || "s", value: (_, value) => format(value) },
        ...chart.curves.map(({ color, dash, fill }, index) => ({
          label: this.names[index]!, stroke: themed(color), width: 1.6, points: isolatedPoints(themed(color)), value: (_: uPlot, value: number | null) => format(value),
          ...(dash ? { dash: [...dash] } : {}), ...(fill ? { fill } : {}), ...(chart.hasSteps ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
        })),
      ],
      hooks: {
        // The legend has values only where the cursor is.
        setLegend: [(plot) => plot.root.classList.toggle("pointed", plot.cursor.idx != null)],
        setSelect: [(plot) => this.onSelect(plot)], ready: [(plot) => this.listen(plot)], draw: [(plot) => this.element.setAttribute("data-ticks", tickLabels(plot))],
      },
    } as uPlot.Options;
  }

  private onSelect(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 3) return;
    this.chart.onZoom?.(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private listen(plot: uPlot): void {
    let pressedX = 0;
    plot.over.addEventListener("mousedown", (event) => (pressedX = event.clientX));
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressedX) < 3) this.chart.onClick?.(plot.posToVal(event.offsetX, "x"));
    });
    plot.over.addEventListener("dblclick", () => this.chart.onZoom?.(null, null));
  }
}

/** Adds the menu of charts to the element around them. */
export function addPlotMenu(figure: HTMLElement, title: string, plots: readonly Plot[]): void {
  addSaveMenu(figure, title, plots, [{ text: "Logarithmic or linear", act: () => plots.forEach((plot) => plot.toggleScale()) }]);
}

/** Whether charts that share a cursor share this event: a selection zooms all of them by `onZoom`. */
const isMovement = (event: string): boolean => event === "mousemove" || event === "mouseleave";

const rangeFromZero: uPlot.Range.Function = (_, _low, high) => [0, high > 0 ? high * 1.08 : 1];

/** Whole steps of 1, 2 and 5, so that both ends have a label. */
const logRange: uPlot.Range.Function = (_, low, high) => (low > 0 && high > 0 ? [roundDown(low), roundUp(high)] : [0.1, 10]);

/** Width of a vertical axis's label, in pixels. */
const LABEL_PX = 7;

function axis(label: string, isVertical: boolean, isLogarithmic = false): uPlot.Axis {
  return {
    ...(label ? { label, labelSize: 16 } : {}), labelFont: '12px "Inter", sans-serif', font: '11px "Inter", sans-serif', stroke: themed(QUIET), labelGap: 0, gap: 3,
    size: (_, values) => (isVertical ? Math.max(34, Math.max(0, ...(values ?? []).map((text) => text.length)) * LABEL_PX + 12) : 20),
    splits: (plot, _axis, low, high) => {
      const pixels = (isVertical ? plot.bbox.height : plot.bbox.width) / devicePixelRatio;
      const count = Math.max(3, Math.floor(pixels / (isVertical ? 24 : 64)) + 1);
      return isLogarithmic ? logTicks(low, high, count) : linearTicks(low, high, count);
    },
    filter: (_, splits) => splits, values: (_, splits) => splits.map(tickText),
    grid: { stroke: themed(FAINT), width: 1 }, ticks: { stroke: themed(FAINT), width: 1, size: 4 },
  } as uPlot.Axis;
}
