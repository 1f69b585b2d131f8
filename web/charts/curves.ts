// Curves, areas and stacked bars.

import uPlot from "uplot";
import { Plot, CHARACTER_PX, isolatedPoints, textWidth } from "./plot.ts";
import { clamp, formatNumber, splitUnit, unpack, unpackPositions, unpackShares } from "./numbers.ts";
import { FAINT, GRAY, INK, PAPER, QUIET, SERIES, textColor, themed } from "./palette.ts";
import type { PanelData, SeriesData } from "./panel.ts";
import { roundDown, roundUp } from "./ticks.ts";

/** Height of a row of overloaded points. */
const ROW_PX = 11;
/** Narrower plots have no names at their curves: the chips below name them. */
const MIN_NAMED_PX = 430;
/** More names than this cannot be distinguished. */
const MAX_NAMED = 8;
const NAME_PX = 14;
const NAME_GAP_PX = 8;

type Values = (number | null)[];

/** Positions on the x axis, and a column for each series. */
interface AlignedSeries {
  readonly xs: number[];
  readonly columns: Values[];
}

export class Curves extends Plot {
  private readonly columns: Values[];
  private readonly bounds: (readonly [Values, Values] | null)[];
  /** All positions and columns; those drawn begin at the first position that the axis can show. */
  private readonly aligned: AlignedSeries;

  constructor(panel: PanelData, holder: Element, title: string, height: number) {
    const aligned = align(panel);
    const first = panel.logX ? Math.max(0, aligned.xs.findIndex((x) => x > 0)) : 0;
    super(panel, holder, title, height, aligned.xs.slice(first));
    this.aligned = aligned;
    this.columns = aligned.columns.map((column) => column.slice(first));
    this.bounds = panel.series.map(({ low, high }) => (low && high ? [unpack(low), unpack(high)] : null));
    this.begin();
  }

  table(): (string | number | null)[][] {
    const { panel, bounds } = this;
    const { xs, columns } = this.aligned;
    const heads = panel.series.flatMap(({ name }, index) => [name, ...(bounds[index] ? [`${name}, 95 % from`, `${name}, 95 % to`] : []), ...(panel.series[index]!.late ? [`${name} overloaded`] : [])]);
    const rows = xs.map((x, at) => [
      panel.steps ? panel.steps[at]! : x,
      ...panel.series.flatMap(({ late }, index) => [
        columns[index]![at] ?? null,
        ...(bounds[index] ? bounds[index]!.map((each) => each[at] ?? null) : []),
        ...(late ? [late.includes(at) ? "yes" : "no"] : []),
      ]),
    ]);
    return [[panel.xName, ...heads], ...rows];
  }

  protected override hasLogScale(): boolean {
    return this.panel.series.some(({ kind, values }) => kind !== "bar" && unpack(values).some((value) => value !== null && value > 0));
  }

  /** Gray series lie below the others; bars stand on those before them that are selected. */
  protected arrange(): void {
    const { series } = this.panel;
    const below = this.xs.map(() => 0);
    const stacked = new Map<number, number[]>();
    this.order = series.map((_, index) => index).sort((a, b) => Number(this.picked[a]) - Number(this.picked[b]));
    series.forEach(({ kind }, index) => {
      if (kind !== "bar" || !this.picked[index]) return;
      stacked.set(index, this.columns[index]!.map((value, at) => (below[at]! += value ?? 0)));
    });
    if (stacked.size > 0) this.order.reverse();
    this.shown = this.order.map((index) => stacked.get(index) ?? this.columns[index]!);
  }

  protected seriesOptions(series: SeriesData, index: number): uPlot.Series {
    const { kind } = series;
    const picked = this.picked[index]!;
    const color = themed(picked ? this.colors[index]! : GRAY);
    const dash = series.gray ? [2 + 3 * Math.floor(index / SERIES.length), 3] : series.dash?.map((length) => length * 1.6);
    const paths = kind === "bar" ? uPlot.paths.bars!({ size: [0.66, 80] }) : series.at ? uPlot.paths.stepped!({ align: 1 }) : undefined;
    return {
      show: picked || Boolean(series.gray) || this.panel.series.length > 6,
      stroke: color,
      width: kind === "bar" ? 0 : picked ? 1.8 : 0.8,
      points: this.xs.length <= 40 && picked && kind !== "bar" ? { show: true, size: 6, fill: color } : kind === "bar" ? { show: false } : isolatedPoints(color),
      ...(picked && dash ? { dash } : {}),
      ...(kind === "bar" ? { fill: color } : kind === "area" ? { fill: `${color}40` } : {}),
      ...(paths ? { paths } : {}),
    };
  }

  /** Selected series with overloaded points that have no value: each has a row above the plot. */
  private get overloadedRows(): number[] {
    return this.panel.series.flatMap((series, index) =>
      this.picked[index] && series.late?.some((at) => this.columns[index]![at] === null) ? [index] : []);
  }

  /** Series whose names stand at their curves. */
  protected override get named(): readonly number[] {
    const lines = this.panel.series.flatMap(({ kind }, index) => (kind !== "bar" && this.picked[index] ? [index] : []));
    return this.panel.series.length > 1 && lines.length <= MAX_NAMED && this.surface.clientWidth >= MIN_NAMED_PX ? lines : [];
  }

  /** Whether names stand at medians of distributions, which all end at the same height. */
  private get namesMedians(): boolean {
    return this.panel.series.some(({ at }) => at);
  }

  protected override margins(): { top: number; right: number } {
    const names = this.namesMedians ? [] : this.named.map((index) => textWidth(this.panel.series[index]!.name, true));
    return { top: this.panel.top ? 22 : 8, right: names.length > 0 ? Math.min(Math.max(...names) + 2 * NAME_GAP_PX, this.surface.clientWidth * 0.3) : 14 };
  }

  protected override xRange(low: number | null, high: number | null): [number, number] {
    const last = this.xs.length - 1;
    if (this.panel.steps && low !== null && high !== null && low <= 0 && high >= last) return [-0.6, last + 0.6];
    if (this.namesMedians && this.panel.logX && low !== null && high !== null && low > 0 && low === this.xs[0] && high === this.xs[last]) return [roundDown(low), roundUp(high)];
    return super.xRange(low, high);
  }

  protected override shareAbove(): number {
    const above = this.overloadedRows.length * ROW_PX + (this.panel.marks ?? []).length * 16;
    return Math.min(above / (this.height - 60), 0.5);
  }

  protected yRange(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null || !(high > 0)) return this.log ? [0.1, 10] : [0, 1];
    for (const [index, bounds] of this.bounds.entries()) {
      if (bounds && this.picked[index]) high = Math.max(high, ...bounds[1].map((value) => value ?? 0));
    }
    const share = this.shareAbove();
    if (!this.log) return [Math.min(0, low), (high * 1.05) / (1 - share)];
    const positive = low > 0 ? low : high / 1000;
    const [bottom, top] = [roundDown(positive / 1.02), roundUp(high * 1.02)];
    return [bottom, top * (top / bottom) ** (share / (1 - share))];
  }

  protected axes(): uPlot.Axis[] {
    const { panel } = this;
    const x = panel.steps ? this.nameAxis(panel.xName, panel.steps) : this.numberAxis(panel.xName, false);
    return [{ ...x, ...(!panel.steps && this.xs.length <= 12 ? this.positionTicks() : {}) }, this.numberAxis("", true)];
  }

  /** Ticks at the positions themselves: those on the right first, as far as there is room. */
  private positionTicks(): Partial<uPlot.Axis> {
    return {
      values: (_, splits) => splits.map(formatNumber),
      splits: (chart) => {
        let last = Infinity;
        const { min, max } = chart.scales["x"]!;
        return this.xs.filter((x) => x >= min! && x <= max!).reverse().filter((x) => {
          const at = chart.valToPos(x, "x");
          const isFree = last - at >= 46;
          if (isFree) last = at;
          return isFree;
        }).reverse();
      },
    };
  }

  protected overlay(chart: uPlot): void {
    this.drawMarks(chart);
    this.drawLevels(chart);
    this.drawBands(chart);
    this.drawOverloaded(chart);
    this.drawTopAxis(chart);
    if (this.namesMedians) this.nameMedians(chart);
    else this.nameEnds(chart);
  }

  private clipped(chart: uPlot, paint: (pen: CanvasRenderingContext2D) => void): void {
    const { ctx: pen, bbox } = chart;
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    paint(pen);
    pen.restore();
  }

  private drawBands(chart: uPlot): void {
    this.clipped(chart, (pen) => {
      for (const index of this.order) {
        const bounds = this.bounds[index];
        if (!bounds || !this.picked[index]) continue;
        const [low, high] = bounds;
        const known = this.xs.map((_, at) => at).filter((at) => low[at] !== null && low[at] !== undefined && high[at] !== null);
        const point = (at: number, value: number) => pen.lineTo(chart.valToPos(this.xs[at]!, "x", true), chart.valToPos(Math.max(value, chart.scales["y"]!.min!), "y", true));
        pen.beginPath();
        known.forEach((at) => point(at, high[at]!));
        known.reverse().forEach((at) => point(at, low[at]!));
        pen.closePath();
        pen.fillStyle = `${themed(this.colors[index]!)}2e`;
        pen.fill();
      }
    });
  }

  /** Draws overloaded points hollow: on their curve where they have a value, otherwise in rows above the plot. */
  private drawOverloaded(chart: uPlot): void {
    const scale = devicePixelRatio;
    const rows = this.overloadedRows;
    const { left, top, width } = chart.bbox;
    if (rows.length > 0) {
      this.clipped(chart, (pen) => {
        pen.fillStyle = `${themed(FAINT)}72`;
        pen.fillRect(left, top, width, rows.length * ROW_PX * scale);
        const text = rows.length > 1 ? ["overloaded:", "queue kept growing"] : ["overloaded: queue kept growing"];
        text.forEach((line, at) => this.write(line, left + 5 * scale, top + ((rows.length * ROW_PX) / 2 + (at - (text.length - 1) / 2) * 11) * scale, { color: themed(QUIET), size: 10 }));
      });
    }
    this.clipped(chart, (pen) => {
      for (const index of this.order) {
        const { late } = this.panel.series[index]!;
        if (!late || !this.picked[index]) continue;
        const row = top + (rows.indexOf(index) + 0.5) * ROW_PX * scale;
        for (const at of late) {
          const value = this.columns[index]![at] ?? null;
          pen.beginPath();
          pen.arc(chart.valToPos(this.xs[at]!, "x", true), value === null ? row : chart.valToPos(value, "y", true), 3 * scale, 0, 7);
          pen.fillStyle = themed(PAPER);
          pen.fill();
          pen.lineWidth = 1.5 * scale;
          pen.strokeStyle = themed(this.colors[index]!);
          pen.stroke();
        }
      }
    });
  }

  /** Draws a dashed line at each mark, with its text at the top. */
  private drawMarks(chart: uPlot): void {
    const { ctx: pen, bbox: { left, top, width, height } } = chart;
    const scale = devicePixelRatio;
    (this.panel.marks ?? []).forEach(([text, position], rank) => {
      const at = chart.valToPos(position, "x", true);
      if (at < left || at > left + width) return;
      const isLeft = at < left + width * 0.6;
      pen.save();
      pen.strokeStyle = themed(INK);
      pen.lineWidth = scale;
      pen.setLineDash([4 * scale, 2 * scale]);
      pen.beginPath();
      pen.moveTo(at, top);
      pen.lineTo(at, top + height);
      pen.stroke();
      this.write(text, at + (isLeft ? 4 : -4) * scale, top + (8 + 15 * rank) * scale, { align: isLeft ? "left" : "right" });
      pen.restore();
    });
  }

  /** Draws a dashed line at each level, with its text above its right end. */
  private drawLevels(chart: uPlot): void {
    const scale = devicePixelRatio;
    const { left, width } = chart.bbox;
    this.clipped(chart, (pen) => {
      for (const [text, value] of this.panel.levels ?? []) {
        const y = chart.valToPos(value, "y", true);
        pen.strokeStyle = themed(INK);
        pen.lineWidth = scale;
        pen.setLineDash([4 * scale, 3 * scale]);
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(left + width, y);
        pen.stroke();
        pen.setLineDash([]);
        pen.fillStyle = `${themed(PAPER)}cc`;
        pen.fillRect(left + width - (text.length * CHARACTER_PX + 10) * scale, y - 17 * scale, (text.length * CHARACTER_PX + 8) * scale, 15 * scale);
        this.write(text, left + width - 5 * scale, y - 9 * scale, { align: "right", bold: true });
      }
    });
  }

  private drawTopAxis(chart: uPlot): void {
    const { top: names } = this.panel;
    if (!names) return;
    let last = Infinity;
    for (let at = this.xs.length - 1; at >= 0; at--) {
      const x = chart.valToPos(this.xs[at]!, "x", true);
      const room = names[at]!.length * CHARACTER_PX * devicePixelRatio;
      if (x < chart.bbox.left || x > chart.bbox.left + chart.bbox.width || last - x < room + 6) continue;
      this.write(names[at]!, x, chart.bbox.top - 9 * devicePixelRatio, { align: "center", color: themed(QUIET), size: 11 });
      last = x;
    }
  }

  /** Writes names at the right ends of curves, moved apart. */
  private nameEnds(chart: uPlot): void {
    const scale = devicePixelRatio;
    const { left, top, width, height } = chart.bbox;
    const rows = this.overloadedRows;
    const ends = this.named.map((index) => {
      const column = this.shown[this.order.indexOf(index)]!;
      const last = column.findLastIndex((value, at) => value !== null && value !== undefined && this.xs[at]! <= chart.scales["x"]!.max!);
      const isOverloaded = rows.includes(index) && (this.panel.series[index]!.late ?? []).includes(this.xs.length - 1);
      const y = isOverloaded ? top + (rows.indexOf(index) + 0.5) * ROW_PX * scale : last < 0 ? top + height : chart.valToPos(column[last]!, "y", true);
      return { index, y: clamp(y, top, top + height) / scale };
    });
    const positions = spread(ends.map(({ y }) => y), NAME_PX, top / scale, (top + height) / scale);
    const most = this.margins().right - NAME_GAP_PX;
    ends.forEach(({ index }, at) => {
      const text = fitted(this.panel.series[index]!.name, most);
      this.write(text, left + width + NAME_GAP_PX * scale, positions[at]! * scale, { color: textColor(this.colors[index]!), bold: true });
    });
  }

  /** Writes the names of distributions at their medians: that of the fastest on its left. */
  private nameMedians(chart: uPlot): void {
    const scale = devicePixelRatio;
    const medians = this.named.flatMap((index) => {
      const at = this.columns[index]!.findIndex((value) => value !== null && value >= 50);
      return at < 0 ? [] : [{ index, x: this.xs[at]! }];
    }).sort((a, b) => a.x - b.x);
    this.clipped(chart, () => medians.forEach(({ index, x }, rank) => {
      const isLeft = rank === 0 && medians.length > 1;
      const shift = isLeft ? -8 : 8;
      const y = chart.valToPos(50, "y", true) + (isLeft ? -7 : 7 + 14 * Math.max(rank - 1, 0)) * scale;
      this.write(this.panel.series[index]!.name, chart.valToPos(x, "x", true) + shift * scale, y, { color: textColor(this.colors[index]!), bold: true, align: isLeft ? "right" : "left" });
    }));
  }

  protected describe(index: number | null | undefined): void {
    const { panel } = this;
    const [words, unit] = splitUnit(panel.xName);
    const at = index ?? null;
    const position = at === null ? "" : panel.steps ? `${panel.xName}: ${panel.steps[at]}` : `${words}: ${formatNumber(this.xs[at]!)} ${unit}`.trim();
    const place = panel.top && at !== null ? `${position} (${panel.top[at]})` : position;
    this.spoken = panel.series.map((series, each) => {
      const value = at === null ? null : (this.columns[each]![at] ?? null);
      const bounds = at === null ? null : this.bounds[each];
      const half = bounds && value !== null && bounds[1][at!] !== null ? ` ± ${formatNumber((bounds[1][at!]! - bounds[0][at!]!) / 2)}` : "";
      const isOverloaded = at !== null && series.late?.includes(at);
      const text = [value === null ? "" : formatNumber(value) + half, isOverloaded ? "overloaded" : ""].filter(Boolean).join(", ");
      const chip = this.values[each];
      if (chip) chip.textContent = text;
      return text && this.picked[each] ? `${series.name} ${text}` : "";
    }).filter(Boolean).join("; ");
    const isAlone = panel.series.length === 1 && this.spoken !== "";
    this.readout.textContent = isAlone ? `${place}: ${this.spoken}` : place;
    if (isAlone) this.spoken = "";
  }

  protected walk(steps: number): void {
    const { chart, xs } = this;
    const now = chart.cursor.idx ?? xs.findIndex((x) => x >= this.range.min) - steps;
    this.move(xs[clamp(now + steps, 0, xs.length - 1)]!);
  }
}

/** Returns the positions on the x axis and a column for each series; steps hold their value up to the next position. */
function align(panel: PanelData): AlignedSeries {
  if (!panel.series.some(({ at }) => at)) {
    const xs = panel.steps ? panel.steps.map((_, index) => index) : unpackPositions(panel.x);
    return { xs, columns: panel.series.map(({ values }) => unpack(values)) };
  }
  const joined = uPlot.join(panel.series.map(({ at, values, half }) => [unpack(at), unpackShares(values, half)]) as unknown as uPlot.AlignedData[]);
  const columns = joined.slice(1) as unknown as Values[];
  for (const column of columns) {
    for (let index = 1; index < column.length; index++) column[index] ??= column[index - 1] ?? null;
  }
  return { xs: [...(joined[0] as number[])], columns };
}

/** Returns heights moved as little as needed to be `distance` apart, within `low` and `high`. */
export function spread(heights: readonly number[], distance: number, low: number, high: number): number[] {
  const order = heights.map((_, index) => index).sort((a, b) => heights[a]! - heights[b]!);
  const blocks: { members: number[]; center: number }[] = [];
  const centered = (members: number[]) => {
    const half = ((members.length - 1) * distance) / 2;
    const mean = members.reduce((sum, index) => sum + heights[index]!, 0) / members.length;
    return { members, center: clamp(mean, low + half, Math.max(high - half, low + half)) };
  };
  for (const index of order) {
    blocks.push(centered([index]));
    while (blocks.length > 1) {
      const [above, below] = blocks.slice(-2) as [(typeof blocks)[0], (typeof blocks)[0]];
      if (below.center - above.center >= ((above.members.length + below.members.length) * distance) / 2) break;
      blocks.splice(-2, 2, centered([...above.members, ...below.members]));
    }
  }
  const positions: number[] = [];
  for (const { members, center } of blocks) members.forEach((index, rank) => (positions[index] = center + (rank - (members.length - 1) / 2) * distance));
  return positions;
}

/** Returns a text, cut where it is wider than `most` pixels. */
function fitted(text: string, most: number): string {
  if (textWidth(text, true) <= most) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, true) > most) length--;
  return `${text.slice(0, length)}…`;
}
