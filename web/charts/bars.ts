// Phases of nodes: a row for each node, with stretches of time one after the other.

import type uPlot from "uplot";
import { Plot } from "./plot.ts";
import { clamp, formatNumber } from "./numbers.ts";
import { themed } from "./palette.ts";
import type { PanelData } from "./panel.ts";

const NO_BARS: readonly (readonly number[])[] = [];

export class Bars extends Plot {
  private row = 0;
  private step = -1;

  constructor(panel: PanelData, holder: Element, title: string, height: number) {
    super(panel, holder, title, height, [0, Math.max(...(panel.bars ?? []).flat().map((bar) => bar.reduce((sum, length) => sum + length)))]);
    this.begin();
  }

  private get rows(): readonly string[] {
    return this.panel.rows!;
  }

  table(): (string | number | null)[][] {
    const { panel } = this;
    const header = ["node", "phase", "start (s)", ...panel.series.map(({ name }) => `${name} (s)`)];
    return [header, ...this.rows.flatMap((name, row) => (panel.bars![row] ?? NO_BARS).map((bar, step) => [name, panel.steps![step]!, ...bar]))];
  }

  protected override get hasRows(): boolean {
    return true;
  }

  protected override get isUpsideDown(): boolean {
    return true;
  }

  protected arrange(): void {
    this.order = this.panel.series.map((_, index) => index);
    this.layers = this.order.map(() => [null, null]);
  }

  protected seriesOptions(): uPlot.Series {
    return {};
  }

  protected yRange(): [number, number] {
    return [0, this.rows.length];
  }

  protected axes(): uPlot.Axis[] {
    return [this.numberAxis(this.panel.xName, false), this.nameAxis("", this.rows, 0.5)];
  }

  protected overlay(chart: uPlot): void {
    const { ctx: pen, bbox } = chart;
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    this.panel.bars!.forEach((bars, row) => {
      const top = chart.valToPos(row + 0.14, "y", true);
      const height = chart.valToPos(row + 0.86, "y", true) - top;
      for (const [start_s, ...lengths] of bars) {
        let position_s = start_s!;
        lengths.forEach((length, index) => {
          if (this.isPicked[index] && length > 0) {
            const left = chart.valToPos(position_s, "x", true);
            pen.fillStyle = themed(this.colors[index]!);
            pen.fillRect(left, top, Math.max(chart.valToPos(position_s + length, "x", true) - left, 0.5), height);
          }
          position_s += length;
        });
      }
    });
    pen.restore();
  }

  protected describe(): void {
    const { chart, panel } = this;
    const { left = -1, top = -1 } = chart.cursor;
    const isInside = left >= 0;
    const row = isInside ? clamp(Math.floor(chart.posToVal(top, "y")), 0, this.rows.length - 1) : 0;
    const bars = isInside ? (panel.bars![row] ?? NO_BARS) : NO_BARS;
    const step = bars.findLastIndex(([start]) => start! <= chart.posToVal(left, "x"));
    const bar = bars[step];
    const texts = panel.series.map((_, index) => (bar ? `${formatNumber(bar[index + 1]!)} s` : ""));
    texts.forEach((text, index) => (this.chipTexts[index]!.textContent = text));
    this.readout.textContent = bar ? `${this.rows[row]}, ${panel.steps![step]}: from ${formatNumber(bar[0]!)} s` : "";
    this.spokenText = panel.series.map((series, index) => `${series.name} ${texts[index]}`).join("; ");
    [this.row, this.step] = [row, step];
  }

  protected walk(steps: number, rows: number): void {
    const row = clamp(this.row + rows, 0, this.rows.length - 1);
    const bars = this.panel.bars![row] ?? NO_BARS;
    const bar = bars[clamp(this.step + steps, 0, bars.length - 1)];
    this.move(bar ? bar[0]! : 0, this.chart.valToPos(row + 0.5, "y"));
  }
}
