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
    const firstDrawn = panel.logX ? Math.max(0, aligned.xs.findIndex((x) => x > 0)) : 0;
    super(panel, holder, title, height, aligned.xs.slice(firstDrawn));
    this.aligned = aligned;
    this.columns = aligned.columns.map((column) => column.slice(firstDrawn));
    this.bounds = panel.series.map(({ low, high }) => (low && high ? [unpack(low), unpack(high)] : null));
    this.begin();
  }

  table(): (string | number | null)[][] {
    const { panel, bounds } = this;
    const { xs, columns } = this.aligned;
    const names = panel.series.flatMap(({ name }, index) => [name, ...(bounds[index] ? [`${name}, 95 % from`, `${name}, 95 % to`] : []), ...(panel.series[index]!.late ? [`${name} overloaded`] : [])]);
    const rows = xs.map((x, row) => [
      panel.steps ? panel.steps[row]! : x,
      ...panel.series.flatMap(({ late }, index) => [
        columns[index]![row] ?? null,
        ...(bounds[index] ? bounds[index]!.map((bound) => bound[row] ?? null) : []),
        ...(late ? [late.includes(row) ? "yes" : "no"] : []),
      ]),
    ]);
    return [[panel.xName, ...names], ...rows];
  }

  protected override hasLogScale(): boolean {
    return this.panel.series.some(({ kind, values }) => kind !== "bar" && unpack(values).some((value) => value !== null && value > 0));
  }

  /** Gray series lie below the others; bars stand on those before them that are selected. */
  protected arrange(): void {
    const { series } = this.panel;
    const stackTops = this.xs.map(() => 0);
    const stackedColumns = new Map<number, number[]>();
    this.order = series.map((_, index) => index).sort((a, b) => Number(this.isPicked[a]) - Number(this.isPicked[b]));
    series.forEach(({ kind }, index) => {
      if (kind !== "bar" || !this.isPicked[index]) return;
      stackedColumns.set(index, this.columns[index]!.map((value, row) => (stackTops[row]! += value ?? 0)));
    });
    if (stackedColumns.size > 0) this.order.reverse();
    this.layers = this.order.map((index) => stackedColumns.get(index) ?? this.columns[index]!);
  }

  protected seriesOptions(series: SeriesData, index: number): uPlot.Series {
    const { kind } = series;
    const isPicked = this.isPicked[index]!;
    const color = themed(isPicked ? this.colors[index]! : GRAY);
    const dash = series.gray ? [2 + 3 * Math.floor(index / SERIES.length), 3] : series.dash?.map((length) => length * 1.6);
    const paths = kind === "bar" ? uPlot.paths.bars!({ size: [0.66, 80] }) : series.at ? uPlot.paths.stepped!({ align: 1 }) : undefined;
    return {
      show: isPicked || Boolean(series.gray) || this.panel.series.length > 6,
      stroke: color,
      width: kind === "bar" ? 0 : isPicked ? 1.8 : 0.8,
      points: this.xs.length <= 40 && isPicked && kind !== "bar" ? { show: true, size: 6, fill: color } : kind === "bar" ? { show: false } : isolatedPoints(color),
      ...(isPicked && dash ? { dash } : {}),
      ...(kind === "bar" ? { fill: color } : kind === "area" ? { fill: `${color}40` } : {}),
      ...(paths ? { paths } : {}),
    };
  }

  /** Selected series with overloaded points that have no value: each has a row above the plot. */
  private get overloadedSeries(): number[] {
    return this.panel.series.flatMap((series, index) =>
      this.isPicked[index] && series.late?.some((row) => this.columns[index]![row] === null) ? [index] : []);
  }

  /** Series whose names stand at their curves. */
  protected override get namedSeries(): readonly number[] {
    const lineSeries = this.panel.series.flatMap(({ kind }, index) => (kind !== "bar" && this.isPicked[index] ? [index] : []));
    return this.panel.series.length > 1 && lineSeries.length <= MAX_NAMED && this.surface.clientWidth >= MIN_NAMED_PX ? lineSeries : [];
  }

  /** Whether names stand at medians of distributions, which all end at the same height. */
  private get namesMedians(): boolean {
    return this.panel.series.some(({ at }) => at);
  }

  protected override margins(): { top: number; right: number } {
    const names = this.namesMedians ? [] : this.namedSeries.map((index) => textWidth(this.panel.series[index]!.name, true));
    return { top: this.panel.top ? 22 : 8, right: names.length > 0 ? Math.min(Math.max(...names) + 2 * NAME_GAP_PX, this.surface.clientWidth * 0.3) : 14 };
  }

  protected override xRange(low: number | null, high: number | null): [number, number] {
    const last = this.xs.length - 1;
    if (this.panel.steps && low !== null && high !== null && low <= 0 && high >= last) return [-0.6, last + 0.6];
    if (this.namesMedians && this.panel.logX && low !== null && high !== null && low > 0 && low === this.xs[0] && high === this.xs[last]) return [roundDown(low), roundUp(high)];
    return super.xRange(low, high);
  }

  protected override shareAbove(): number {
    const above_px = this.overloadedSeries.length * ROW_PX + (this.panel.marks ?? []).length * 16;
    return Math.min(above_px / (this.height - 60), 0.5);
  }

  protected yRange(low: number | null, high: number | null): [number, number] {
    if (low === null || high === null || !(high > 0)) return this.isLog ? [0.1, 10] : [0, 1];
    for (const [index, bounds] of this.bounds.entries()) {
      if (bounds && this.isPicked[index]) high = Math.max(high, ...bounds[1].map((value) => value ?? 0));
    }
    high = Math.max(high, ...(this.panel.levels ?? []).map(([, value]) => value));
    const share = this.shareAbove();
    if (!this.isLog) return [Math.min(0, low), (high * 1.05) / (1 - share)];
    const lowestPositive = low > 0 ? low : high / 1000;
    const [bottom, top] = [roundDown(lowestPositive / 1.02), roundUp(high * 1.02)];
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
        let lastLeft_px = Infinity;
        const { min, max } = chart.scales["x"]!;
        return this.xs.filter((x) => x >= min! && x <= max!).reverse().filter((x) => {
          const left_px = chart.valToPos(x, "x");
          const isFree = lastLeft_px - left_px >= 46;
          if (isFree) lastLeft_px = left_px;
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

  private clip(chart: uPlot, paint: (pen: CanvasRenderingContext2D) => void): void {
    const { ctx: pen, bbox } = chart;
    pen.save();
    pen.beginPath();
    pen.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    pen.clip();
    paint(pen);
    pen.restore();
  }

  private drawBands(chart: uPlot): void {
    this.clip(chart, (pen) => {
      for (const index of this.order) {
        const bounds = this.bounds[index];
        if (!bounds || !this.isPicked[index]) continue;
        const [low, high] = bounds;
        const knownRows = this.xs.map((_, row) => row).filter((row) => low[row] !== null && low[row] !== undefined && high[row] !== null);
        const lineToValue = (row: number, value: number) => pen.lineTo(chart.valToPos(this.xs[row]!, "x", true), chart.valToPos(Math.max(value, chart.scales["y"]!.min!), "y", true));
        pen.beginPath();
        knownRows.forEach((row) => lineToValue(row, high[row]!));
        knownRows.reverse().forEach((row) => lineToValue(row, low[row]!));
        pen.closePath();
        pen.fillStyle = `${themed(this.colors[index]!)}2e`;
        pen.fill();
      }
    });
  }

  /** Draws overloaded points hollow: on their curve where they have a value, otherwise in rows above the plot. */
  private drawOverloaded(chart: uPlot): void {
    const scale = devicePixelRatio;
    const rowSeries = this.overloadedSeries;
    const { left, top, width } = chart.bbox;
    if (rowSeries.length > 0) {
      this.clip(chart, (pen) => {
        pen.fillStyle = `${themed(FAINT)}72`;
        pen.fillRect(left, top, width, rowSeries.length * ROW_PX * scale);
        const lines = rowSeries.length > 1 ? ["overloaded:", "queue kept growing"] : ["overloaded: queue kept growing"];
        lines.forEach((line, lineNumber) => this.write(line, left + 5 * scale, top + ((rowSeries.length * ROW_PX) / 2 + (lineNumber - (lines.length - 1) / 2) * 11) * scale, { color: themed(QUIET), size: 10 }));
      });
    }
    this.clip(chart, (pen) => {
      for (const index of this.order) {
        const { late } = this.panel.series[index]!;
        if (!late || !this.isPicked[index]) continue;
        const rowY = top + (rowSeries.indexOf(index) + 0.5) * ROW_PX * scale;
        for (const row of late) {
          const value = this.columns[index]![row] ?? null;
          pen.beginPath();
          pen.arc(chart.valToPos(this.xs[row]!, "x", true), value === null ? rowY : chart.valToPos(value, "y", true), 3 * scale, 0, 7);
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
      const x = chart.valToPos(position, "x", true);
      if (x < left || x > left + width) return;
      const isLeft = x < left + width * 0.6;
      pen.save();
      pen.strokeStyle = themed(INK);
      pen.lineWidth = scale;
      pen.setLineDash([4 * scale, 2 * scale]);
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, top + height);
      pen.stroke();
      this.write(text, x + (isLeft ? 4 : -4) * scale, top + (8 + 15 * rank) * scale, { align: isLeft ? "left" : "right" });
      pen.restore();
    });
  }

  /** Draws a dashed line at each level, with its text above its right end. */
  private drawLevels(chart: uPlot): void {
    const scale = devicePixelRatio;
    const { left, top, width } = chart.bbox;
    this.clip(chart, (pen) => {
      for (const [text, value] of this.panel.levels ?? []) {
        const y = chart.valToPos(value, "y", true);
        // Above the line, or below it where there is no room.
        const middle = y - 17 * scale < top ? y + 9 * scale : y - 9 * scale;
        pen.strokeStyle = themed(INK);
        pen.lineWidth = scale;
        pen.setLineDash([4 * scale, 3 * scale]);
        pen.beginPath();
        pen.moveTo(left, y);
        pen.lineTo(left + width, y);
        pen.stroke();
        pen.setLineDash([]);
        pen.fillStyle = `${themed(PAPER)}cc`;
        pen.fillRect(left + width - (text.length * CHARACTER_PX + 10) * scale, middle - 8 * scale, (text.length * CHARACTER_PX + 8) * scale, 15 * scale);
        this.write(text, left + width - 5 * scale, middle, { align: "right", bold: true });
      }
    });
  }

  private drawTopAxis(chart: uPlot): void {
    const { top: names } = this.panel;
    if (!names) return;
    let lastX = Infinity;
    for (let row = this.xs.length - 1; row >= 0; row--) {
      const x = chart.valToPos(this.xs[row]!, "x", true);
      const room = names[row]!.length * CHARACTER_PX * devicePixelRatio;
      if (x < chart.bbox.left || x > chart.bbox.left + chart.bbox.width || lastX - x < room + 6) continue;
      this.write(names[row]!, x, chart.bbox.top - 9 * devicePixelRatio, { align: "center", color: themed(QUIET), size: 11 });
      lastX = x;
    }
  }

  /** Writes names at the right ends of curves, moved apart. */
  private nameEnds(chart: uPlot): void {
    const scale = devicePixelRatio;
    const { left, top, width, height } = chart.bbox;
    const rowSeries = this.overloadedSeries;
    const ends = this.namedSeries.map((index) => {
      const column = this.layers[this.order.indexOf(index)]!;
      const lastRow = column.findLastIndex((value, row) => value !== null && value !== undefined && this.xs[row]! <= chart.scales["x"]!.max!);
      const isOverloaded = rowSeries.includes(index) && (this.panel.series[index]!.late ?? []).includes(this.xs.length - 1);
      const y = isOverloaded ? top + (rowSeries.indexOf(index) + 0.5) * ROW_PX * scale : lastRow < 0 ? top + height : chart.valToPos(column[lastRow]!, "y", true);
      return { index, y: clamp(y, top, top + height) / scale };
    });
    const positions = spread(ends.map(({ y }) => y), NAME_PX, top / scale, (top + height) / scale);
    const max_px = this.margins().right - NAME_GAP_PX;
    ends.forEach(({ index }, rank) => {
      const text = fitText(this.panel.series[index]!.name, max_px);
      this.write(text, left + width + NAME_GAP_PX * scale, positions[rank]! * scale, { color: textColor(this.colors[index]!), bold: true });
    });
  }

  /** Writes the names of distributions at their medians: that of the fastest on its left. */
  private nameMedians(chart: uPlot): void {
    const scale = devicePixelRatio;
    const medians = this.namedSeries.flatMap((index) => {
      const row = this.columns[index]!.findIndex((value) => value !== null && value >= 50);
      return row < 0 ? [] : [{ index, x: this.xs[row]! }];
    }).sort((a, b) => a.x - b.x);
    this.clip(chart, () => medians.forEach(({ index, x }, rank) => {
      const isLeft = rank === 0 && medians.length > 1;
      const shift_px = isLeft ? -8 : 8;
      const y = chart.valToPos(50, "y", true) + (isLeft ? -7 : 7 + 14 * Math.max(rank - 1, 0)) * scale;
      this.write(this.panel.series[index]!.name, chart.valToPos(x, "x", true) + shift_px * scale, y, { color: textColor(this.colors[index]!), bold: true, align: isLeft ? "right" : "left" });
    }));
  }

  protected describe(cursorIndex: number | null | undefined): void {
    const { panel } = this;
    const [axisName, unit] = splitUnit(panel.xName);
    const row = cursorIndex ?? null;
    const positionText = row === null ? "" : panel.steps ? `${panel.xName}: ${panel.steps[row]}` : `${axisName}: ${formatNumber(this.xs[row]!)} ${unit}`.trim();
    const placeText = panel.top && row !== null ? `${positionText} (${panel.top[row]})` : positionText;
    this.spokenText = panel.series.map((series, index) => {
      const value = row === null ? null : (this.columns[index]![row] ?? null);
      const bounds = row === null ? null : this.bounds[index];
      const halfText = bounds && value !== null && bounds[1][row!] !== null ? ` ± ${formatNumber((bounds[1][row!]! - bounds[0][row!]!) / 2)}` : "";
      const isOverloaded = row !== null && series.late?.includes(row);
      const text = [value === null ? "" : formatNumber(value) + halfText, isOverloaded ? "overloaded" : ""].filter(Boolean).join(", ");
      const chip = this.chipTexts[index];
      if (chip) chip.textContent = text;
      return text && this.isPicked[index] ? `${series.name} ${text}` : "";
    }).filter(Boolean).join("; ");
    const isAlone = panel.series.length === 1 && this.spokenText !== "";
    this.readout.textContent = isAlone ? `${placeText}: ${this.spokenText}` : placeText;
    if (isAlone) this.spokenText = "";
  }

  protected walk(steps: number): void {
    const { chart, xs } = this;
    const current = chart.cursor.idx ?? xs.findIndex((x) => x >= this.range.min) - steps;
    this.move(xs[clamp(current + steps, 0, xs.length - 1)]!);
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

/** Returns a text, cut where it is wider than `max_px` pixels. */
function fitText(text: string, max_px: number): string {
  if (textWidth(text, true) <= max_px) return text;
  let length = text.length;
  while (length > 1 && textWidth(`${text.slice(0, length)}…`, true) > max_px) length--;
  return `${text.slice(0, length)}…`;
}
