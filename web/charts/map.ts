// Positioning times to all places of a sled: each is the longer of a time in x and a time in y.

import type uPlot from "uplot";
import { Plot } from "./plot.ts";
import { clamp, formatNumber, unpack, unpackPositions } from "./numbers.ts";
import { ORANGE, QUIET, themed, timeColor } from "./palette.ts";
import type { PanelData } from "./panel.ts";
import { linearTicks, tickText } from "./ticks.ts";

/** Width of the color scale with its labels. */
const SCALE_PX = 74;

export class TimeMap extends Plot {
  private readonly ys: number[];
  private readonly inX: number[];
  private readonly inY: number[];
  private readonly longest: number;
  private readonly shortest: number;
  private column: number | null = null;
  private row: number | null = null;

  constructor(panel: PanelData, holder: Element, title: string, height: number) {
    super(panel, holder, title, height, unpackPositions(panel.x));
    const map = panel.map!;
    this.ys = unpackPositions(map.y);
    [this.inX, this.inY] = [unpack(map.inX) as number[], unpack(map.inY) as number[]];
    this.longest = Math.max(...this.inX, ...this.inY);
    this.shortest = Math.max(Math.min(...this.inX), Math.min(...this.inY));
    this.begin();
  }

  table(): (string | number | null)[][] {
    const head = [this.panel.xName, this.panel.map!.yName, this.panel.yName];
    return [head, ...this.ys.flatMap((y, row) => this.xs.map((x, column) => [x, y, Math.max(this.inX[column]!, this.inY[row]!)]))];
  }

  protected override get hasRows(): boolean {
    return true;
  }

  protected override margins(): { top: number; right: number } {
    return { top: 8, right: SCALE_PX };
  }

  protected arrange(): void {
    this.order = [0];
    this.shown = [this.xs.map(() => null)];
  }

  protected seriesOptions(): uPlot.Series {
    return {};
  }

  protected yRange(): [number, number] {
    const [first, last] = [this.ys[0]!, this.ys[this.ys.length - 1]!];
    const half = Math.abs(this.ys[1]! - first) / 2;
    return [Math.min(first, last) - half, Math.max(first, last) + half];
  }

  protected axes(): uPlot.Axis[] {
    return [this.numberAxis(this.panel.xName, false), this.numberAxis(this.panel.map!.yName, true)];
  }

  private share(ms: number): number {
    return (ms - this.shortest) / (this.longest - this.shortest || 1);
  }

  protected overlay(chart: uPlot): void {
    this.drawTimes(chart);
    this.drawOutlines(chart);
    this.drawStart(chart);
    this.drawScale(chart);
  }

  private drawTimes(chart: uPlot): void {
    const { left, top, width, height } = chart.bbox;
    const image = chart.ctx.createImageData(Math.round(width), Math.round(height));
    const words = new Uint32Array(image.data.buffer);
    const inY = Array.from({ length: image.height }, (_, row) => this.inY[nearest(this.ys, chart.posToVal(top + row, "y", true))]!);
    const colors = new Map<number, number>();
    const word = (ms: number) => {
      let packed = colors.get(ms);
      if (packed === undefined) {
        const [red, green, blue] = timeColor(this.share(ms));
        colors.set(ms, (packed = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0));
      }
      return packed;
    };
    for (let column = 0; column < image.width; column++) {
      const across = this.inX[nearest(this.xs, chart.posToVal(left + column, "x", true))]!;
      inY.forEach((upright, row) => (words[row * image.width + column] = word(Math.max(across, upright))));
    }
    chart.ctx.putImageData(image, Math.round(left), Math.round(top));
  }

  /** Outlines the regions reached within some times: rectangles, since a time is the longer of those in x and y. */
  private drawOutlines(chart: uPlot): void {
    const { ctx: pen, bbox } = chart;
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    for (const ms of this.panel.map!.outlines ?? []) {
      const [left, right] = reach(this.xs, this.inX, ms);
      const [bottom, top] = reach(this.ys, this.inY, ms);
      if (left === undefined || bottom === undefined) continue;
      const [x0, x1] = [chart.valToPos(left, "x", true), chart.valToPos(right!, "x", true)];
      const [y0, y1] = [chart.valToPos(Math.max(bottom, top!), "y", true), chart.valToPos(Math.min(bottom, top!), "y", true)];
      pen.strokeStyle = "#fff";
      pen.lineWidth = 2.5 * devicePixelRatio;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      pen.strokeStyle = "#1b1f24";
      pen.lineWidth = devicePixelRatio;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      const text = `${formatNumber(ms)} ms`;
      const room = (text.length * 7 + 4) * devicePixelRatio;
      pen.fillStyle = "#ffffffd0";
      pen.fillRect(x0 + 2, y0 + 2, room, 15 * devicePixelRatio);
      this.write(text, x0 + 4, y0 + 2 + 8 * devicePixelRatio, { color: "#1b1f24" });
    }
    pen.restore();
  }

  private drawStart(chart: uPlot): void {
    const { start } = this.panel.map!;
    if (!start) return;
    const { ctx: pen } = chart;
    const [x, y] = [chart.valToPos(start[0], "x", true), chart.valToPos(start[1], "y", true)];
    const arm = 6 * devicePixelRatio;
    pen.save();
    pen.strokeStyle = ORANGE;
    pen.lineWidth = 2.5 * devicePixelRatio;
    pen.beginPath();
    pen.moveTo(x - arm, y);
    pen.lineTo(x + arm, y);
    pen.moveTo(x, y - arm);
    pen.lineTo(x, y + arm);
    pen.stroke();
    pen.restore();
  }

  private drawScale(chart: uPlot): void {
    const { ctx: pen, bbox: { left, top, width, height } } = chart;
    const scale = devicePixelRatio;
    const x = left + width + 12 * scale;
    for (let row = 0; row < height; row++) {
      pen.fillStyle = `rgb(${timeColor(1 - row / height).join(",")})`;
      pen.fillRect(x, top + row, 12 * scale, 1);
    }
    for (const ms of linearTicks(this.shortest, this.longest, 6)) {
      this.write(tickText(ms), x + 17 * scale, top + (1 - this.share(ms)) * height, { color: themed(QUIET), size: 11 });
    }
    this.write("ms", x, top + height + 12 * scale, { color: themed(QUIET), size: 11 });
  }

  protected describe(): void {
    const { chart, xs, ys, inX, inY } = this;
    const { left = -1, top = -1 } = chart.cursor;
    if (left < 0) {
      this.readout.textContent = "";
      return;
    }
    const [column, row] = [nearest(xs, chart.posToVal(left, "x")), nearest(ys, chart.posToVal(top, "y"))];
    const [across, upright] = [inX[column]!, inY[row]!];
    this.readout.textContent = `x = ${xs[column]}, y = ${ys[row]}: ${formatNumber(Math.max(across, upright))} ms, in x ${formatNumber(across)}, in y ${formatNumber(upright)}`;
    [this.column, this.row] = [column, row];
  }

  protected walk(steps: number, rows: number): void {
    const { xs, ys } = this;
    const up = ys[1]! > ys[0]! ? -rows : rows;
    const column = clamp((this.column ?? nearest(xs, 0)) + steps, 0, xs.length - 1);
    const row = clamp((this.row ?? nearest(ys, 0)) + up, 0, ys.length - 1);
    this.move(xs[column]!, this.chart.valToPos(ys[row]!, "y"));
  }
}

/** The number of the nearest of equidistant positions. */
function nearest(positions: readonly number[], value: number): number {
  return clamp(Math.round((value - positions[0]!) / (positions[1]! - positions[0]!)), 0, positions.length - 1);
}

/** The first and last position reached within a time; undefined if there is none. */
function reach(positions: readonly number[], times: readonly number[], ms: number): [number | undefined, number | undefined] {
  const reached = positions.filter((_, index) => times[index]! <= ms);
  return [reached[0], reached[reached.length - 1]];
}
