// Bars below each other, each with its name on the left and a text at its end.

import type uPlot from "uplot";
import { Plot, CHARACTER_PX, textWidth } from "./plot.ts";
import { clamp } from "./numbers.ts";
import { INK, QUIET, themed } from "./palette.ts";
import type { NamedBarData, PanelData } from "./panel.ts";

/** Height of a bar with its gap, and of the axis below all bars. */
const BAR_PX = 34;
const AXIS_PX = 48;
/** Height of a heading above a bar, as a share of the height of a bar. */
const HEADING_SHARE = 0.8;
const LINE_PX = 14;
const GAP_PX = 6;
/** Smallest share of the width that bars have, however long their texts are. */
const MIN_SHARE = 0.25;

export class NamedBars extends Plot {
  /** Height of the middle of each bar, counted in bars from the top. */
  private readonly middles: number[];
  private row = 0;

  constructor(panel: PanelData, holder: Element, title: string) {
    const bars = panel.named!;
    let headingsHeight = 0;
    const middles = bars.map(([, , , , heading], index) => index + 0.5 + (headingsHeight += heading ? HEADING_SHARE : 0));
    super(panel, holder, title, AXIS_PX + BAR_PX * (bars.length + headingsHeight), [0, Math.max(...bars.map(([, value]) => value)) || 1]);
    this.middles = middles;
    this.begin();
  }

  private get bars(): readonly NamedBarData[] {
    return this.panel.named!;
  }

  table(): (string | number | null)[][] {
    return [[this.panel.yName, this.panel.xName, "text"], ...this.bars.map(([name, value, , text]) => [name, value, text.replace("\n", ", ")])];
  }

  protected override get hasRows(): boolean {
    return true;
  }

  protected override get isUpsideDown(): boolean {
    return true;
  }

  protected arrange(): void {
    this.order = [0];
    this.layers = [[null, null]];
  }

  protected seriesOptions(): uPlot.Series {
    return {};
  }

  /** Leaves room for the texts at the ends of the bars. */
  protected override xRange(low: number | null, high: number | null): [number, number] {
    const longest = this.xs[1]!;
    if (low !== null && high !== null && (low > 0 || high < longest)) return [low, high];
    const names_px = Math.max(...this.bars.map(([name]) => name.length)) * CHARACTER_PX + 14;
    const width = Math.max((this.surface.clientWidth || 480) - names_px - Math.max(this.margins().right, this.lastTickRoom()), 100);
    const ends = this.bars.map(([, value, , text]) => {
      const widest_px = Math.max(...text.split("\n").map((line) => textWidth(line)));
      return value / Math.max(1 - (widest_px + 2 * GAP_PX) / width, MIN_SHARE);
    });
    return [0, Math.max(...ends, longest)];
  }

  protected yRange(): [number, number] {
    return [0, this.middles[this.middles.length - 1]! + 0.5];
  }

  protected axes(): uPlot.Axis[] {
    const namesAxis = this.nameAxis("", this.bars.map(([name]) => name), 0.5);
    return [this.numberAxis(this.panel.xName, false), {
      ...namesAxis,
      splits: () => this.middles,
      values: (_, splits) => splits.map((middle) => this.bars[this.middles.indexOf(middle)]![0]),
    }];
  }

  protected overlay(chart: uPlot): void {
    const { ctx: pen, bbox } = chart;
    const scale = devicePixelRatio;
    const left = Math.max(chart.valToPos(0, "x", true), bbox.left);
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    this.bars.forEach(([, value, color, text], index) => {
      const middle = chart.valToPos(this.middles[index]!, "y", true);
      const half = chart.valToPos(this.middles[index]! + 0.34, "y", true) - middle;
      const right = Math.max(chart.valToPos(value, "x", true), left);
      pen.fillStyle = themed(color);
      pen.fillRect(left, middle - half, right - left, 2 * half);
      const lines = text.split("\n");
      lines.forEach((line, lineNumber) => this.write(line, right + GAP_PX * scale, middle + (lineNumber - (lines.length - 1) / 2) * LINE_PX * scale, { color: INK }));
    });
    pen.restore();
    // A heading may be longer than the axis: it begins at the left edge, above the names.
    this.bars.forEach(([, , , , heading], index) => {
      if (heading) this.write(heading, 0, chart.valToPos(this.middles[index]! - 0.5 - HEADING_SHARE / 2, "y", true), { color: themed(QUIET) });
    });
  }

  protected describe(): void {
    const { left = -1, top = -1 } = this.chart.cursor;
    if (left < 0) {
      this.readout.textContent = "";
      return;
    }
    const y = this.chart.posToVal(top, "y");
    const distances = this.middles.map((middle) => Math.abs(middle - y));
    this.row = distances.indexOf(Math.min(...distances));
    const [name, , , text] = this.bars[this.row]!;
    this.readout.textContent = `${name}: ${text.replace("\n", ", ")}`;
  }

  protected walk(steps: number, rows: number): void {
    const row = clamp(this.row + (rows || steps), 0, this.bars.length - 1);
    this.move(this.range.min, this.chart.valToPos(this.middles[row]!, "y"));
  }
}
