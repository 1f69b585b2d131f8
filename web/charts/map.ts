// Positioning times to all places of a sled: each is the longer of a time in x and a time in y.

import type uPlot from "uplot";
import { spread } from "./curves.ts";
import { Plot, textWidth } from "./plot.ts";
import { clamp, formatNumber, unpack, unpackPositions } from "./numbers.ts";
import { ORANGE, QUIET, themed, timeColor } from "./palette.ts";
import type { PanelData } from "./panel.ts";
import { linearTicks, tickText } from "./ticks.ts";

/** Width of the color scale with its labels. */
const SCALE_PX = 74;

/** Height of a line of names, and length of the lines from these to their regions. */
const NAME_PX = 18;
const LEADER_PX = 24;

/** A region of the map in pixels of the canvas. */
interface Region {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export class TimeMap extends Plot {
  private readonly ys: number[];
  /** Positioning times in x and in y, to each column and to each row. */
  private readonly x_ms: number[];
  private readonly y_ms: number[];
  private readonly max_ms: number;
  private readonly min_ms: number;
  private column: number | null = null;
  private row: number | null = null;

  constructor(panel: PanelData, holder: Element, title: string, height: number) {
    super(panel, holder, title, height, unpackPositions(panel.x));
    const map = panel.map!;
    this.ys = unpackPositions(map.y);
    [this.x_ms, this.y_ms] = [unpack(map.inX) as number[], unpack(map.inY) as number[]];
    this.max_ms = Math.max(...this.x_ms, ...this.y_ms);
    this.min_ms = Math.max(Math.min(...this.x_ms), Math.min(...this.y_ms));
    this.begin();
  }

  table(): (string | number | null)[][] {
    const header = [this.panel.xName, this.panel.map!.yName, this.panel.yName];
    return [header, ...this.ys.flatMap((y, row) => this.xs.map((x, column) => [x, y, Math.max(this.x_ms[column]!, this.y_ms[row]!)]))];
  }

  protected override get hasRows(): boolean {
    return true;
  }

  protected override margins(): { top: number; right: number } {
    return { top: 8, right: SCALE_PX };
  }

  protected arrange(): void {
    this.order = [0];
    this.layers = [this.xs.map(() => null)];
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
    return (ms - this.min_ms) / (this.max_ms - this.min_ms || 1);
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
    const pixels = new Uint32Array(image.data.buffer);
    const rowTimes_ms = Array.from({ length: image.height }, (_, row) => this.y_ms[nearestIndex(this.ys, chart.posToVal(top + row, "y", true))]!);
    const colors = new Map<number, number>();
    const colorWord = (ms: number) => {
      let packedColor = colors.get(ms);
      if (packedColor === undefined) {
        const [red, green, blue] = timeColor(this.share(ms));
        colors.set(ms, (packedColor = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0));
      }
      return packedColor;
    };
    for (let column = 0; column < image.width; column++) {
      const timeX_ms = this.x_ms[nearestIndex(this.xs, chart.posToVal(left + column, "x", true))]!;
      rowTimes_ms.forEach((timeY_ms, row) => (pixels[row * image.width + column] = colorWord(Math.max(timeX_ms, timeY_ms))));
    }
    chart.ctx.putImageData(image, Math.round(left), Math.round(top));
  }

  /** Outlines the regions reached within some times: rectangles, since a time is the longer of those in x and y. */
  private drawOutlines(chart: uPlot): void {
    const regions: Region[] = [];
    const { ctx: pen, bbox } = chart;
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    for (const ms of this.panel.map!.outlines ?? []) {
      const [left, right] = reachedRange(this.xs, this.x_ms, ms);
      const [bottom, top] = reachedRange(this.ys, this.y_ms, ms);
      if (left === undefined || bottom === undefined) continue;
      const [x0, x1] = [chart.valToPos(left, "x", true), chart.valToPos(right!, "x", true)];
      const [y0, y1] = [chart.valToPos(Math.max(bottom, top!), "y", true), chart.valToPos(Math.min(bottom, top!), "y", true)];
      pen.strokeStyle = "#fff";
      pen.lineWidth = 2.5 * devicePixelRatio;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      pen.strokeStyle = "#1b1f24";
      pen.lineWidth = devicePixelRatio;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      regions.push({ name: `${formatNumber(ms)} ms`, left: x0, top: y0, right: x1, bottom: y1 });
    }
    pen.restore();
    this.nameRegions(chart, regions);
  }

  /** Writes the names of regions next to the widest one, each with a line to the edge of its region. */
  private nameRegions(chart: uPlot, regions: readonly Region[]): void {
    const { ctx: pen, bbox } = chart;
    const scale = devicePixelRatio;
    const names_px = Math.max(0, ...regions.map(({ name }) => textWidth(name))) * scale;
    const outermost = Math.max(...regions.map(({ right }) => right));
    const x = Math.min(outermost + LEADER_PX * scale, bbox.left + bbox.width - names_px - 4 * scale);
    const [first, last] = [bbox.top + NAME_PX * scale, bbox.top + bbox.height - NAME_PX * scale];
    // Every name is at the height of its region's upper edge, or as near as there is room.
    const heights = spread(regions.map(({ top }) => clamp(top, first, last)), NAME_PX * scale, first, last);
    regions.forEach(({ name, right, top, bottom }, index) => {
      const y = heights[index]!;
      pen.strokeStyle = "#fff";
      pen.lineWidth = scale;
      pen.beginPath();
      pen.moveTo(Math.min(right, bbox.left + bbox.width), clamp(y, top, bottom));
      pen.lineTo(x - 3 * scale, y);
      pen.stroke();
      pen.fillStyle = "#fff";
      pen.fillRect(x - 3 * scale, y - 8 * scale, textWidth(name) * scale + 6 * scale, 16 * scale);
      this.write(name, x, y, { color: "#000" });
    });
  }

  private drawStart(chart: uPlot): void {
    const { start } = this.panel.map!;
    if (!start) return;
    const { ctx: pen } = chart;
    const [x, y] = [chart.valToPos(start[0], "x", true), chart.valToPos(start[1], "y", true)];
    const arm_px = 6 * devicePixelRatio;
    pen.save();
    pen.strokeStyle = ORANGE;
    pen.lineWidth = 2.5 * devicePixelRatio;
    pen.beginPath();
    pen.moveTo(x - arm_px, y);
    pen.lineTo(x + arm_px, y);
    pen.moveTo(x, y - arm_px);
    pen.lineTo(x, y + arm_px);
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
    for (const ms of linearTicks(this.min_ms, this.max_ms, 6)) {
      this.write(tickText(ms), x + 17 * scale, top + (1 - this.share(ms)) * height, { color: themed(QUIET), size: 11 });
    }
    this.write("ms", x, top + height + 12 * scale, { color: themed(QUIET), size: 11 });
  }

  protected describe(): void {
    const { chart, xs, ys, x_ms, y_ms } = this;
    const { left = -1, top = -1 } = chart.cursor;
    if (left < 0) {
      this.readout.textContent = "";
      return;
    }
    const [column, row] = [nearestIndex(xs, chart.posToVal(left, "x")), nearestIndex(ys, chart.posToVal(top, "y"))];
    const [timeX_ms, timeY_ms] = [x_ms[column]!, y_ms[row]!];
    this.readout.textContent = `x = ${xs[column]}, y = ${ys[row]}: ${formatNumber(Math.max(timeX_ms, timeY_ms))} ms, in x ${formatNumber(timeX_ms)}, in y ${formatNumber(timeY_ms)}`;
    [this.column, this.row] = [column, row];
  }

  protected walk(steps: number, rows: number): void {
    const { xs, ys } = this;
    const rowSteps = ys[1]! > ys[0]! ? -rows : rows;
    const column = clamp((this.column ?? nearestIndex(xs, 0)) + steps, 0, xs.length - 1);
    const row = clamp((this.row ?? nearestIndex(ys, 0)) + rowSteps, 0, ys.length - 1);
    this.move(xs[column]!, this.chart.valToPos(ys[row]!, "y"));
  }
}

/** The number of the nearest of equidistant positions. */
function nearestIndex(positions: readonly number[], value: number): number {
  return clamp(Math.round((value - positions[0]!) / (positions[1]! - positions[0]!)), 0, positions.length - 1);
}

/** The first and last position reached within a time; undefined if there is none. */
function reachedRange(positions: readonly number[], times_ms: readonly number[], ms: number): [number | undefined, number | undefined] {
  const reachedPositions = positions.filter((_, index) => times_ms[index]! <= ms);
  return [reachedPositions[0], reachedPositions[reachedPositions.length - 1]];
}
