// A panel as SVG: lines or bars, and what the paper prints in yellow.

import { colorPlaces, SERIES, adaptiveColor } from "../charts/palette.ts";
import { linearTicks, logTicks, roundUp, tickText } from "../charts/ticks.ts";
import { formatNumber } from "../page/format.ts";
import type { Panel, Range, Statement } from "./description.ts";
import { label, type Dot, type Series } from "./values.ts";

const HEIGHT = 270;
const MARGIN = { top: 12, right: 12, bottom: 44, left: 56 };
/** Share of its slot that a bar takes. */
const BAR_SHARE = 0.64;
const BAND_STEPS = 24;
/** A y axis is logarithmic, where the panel leaves that open, if values differ by this factor. */
const LOG_RATIO = 50;

/** Pixels of values; values outside of the axis are outside of the plot, which clips them. */
type Scale = (value: number) => number;

interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly (readonly [number, string])[];
}

/** Draws a panel with a width in pixels. */
export function drawPanel(panel: Panel, series: Series, width: number): SVGSVGElement {
  const svg = element("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": describe(panel, series) }) as SVGSVGElement;
  const slots = barSlots(panel, series);
  const x = slots ? slotAxis(panel, slots, width) : xAxis(panel, series, width);
  const y = yAxis(panel, series);
  const clip = element("clipPath", { id: `plot-${++plotCount}` });
  clip.append(element("rect", { x: MARGIN.left - 4, y: slots ? 0 : MARGIN.top - 4, width: width - MARGIN.left - MARGIN.right + 8, height: HEIGHT - MARGIN.bottom + 4 }));
  const plot = element("g", { "clip-path": `url(#plot-${plotCount})` });
  for (const statement of panel.printed) plot.append(...band(statement, series, x.scale, y.scale, slots, width));
  for (const [name, dots] of series) {
    const color = seriesColor(series, name);
    plot.append(...(slots ? bars(dots, slots, x.scale, y.scale, color, width) : line(dots, x.scale, y.scale, color)));
  }
  svg.append(clip, ...axisElements(panel, x, y, width), plot);
  return svg;
}

let plotCount = 0;

/** Draws a panel of stacked bars, in groups; `scale` multiplies printed values, which are of the paper's size. */
export function drawStack(panel: Panel, parts: ReadonlyMap<string, Series>, width: number, scale: number): SVGSVGElement {
  const first = [...parts.values()][0]!;
  const svg = element("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": describe(panel, first) }) as SVGSVGElement;
  const bars = [...first].flatMap(([name, dots]) => dots.map(({ x }) => ({ name, x: label(x), values: [...parts].map(([part, series]) => [part, series.get(name)?.find((dot) => label(dot.x) === label(x))?.y ?? 0] as const) })));
  const printed = new Map(panel.printed.flatMap(({ at, text: title }) => at.map(([bar, value]) => [String(bar), [value * scale, title]] as const)));
  const highest = Math.max(...bars.map(({ values }) => values.reduce((sum, [, value]) => sum + value, 0)), ...[...printed.values()].map(([value]) => Number(value)));
  const y = numberAxis(0, highest * 1.05, false, HEIGHT - MARGIN.bottom, MARGIN.top, 6);
  const slotWidth = (width - MARGIN.left - MARGIN.right) / bars.length;
  const center: Scale = (index) => MARGIN.left + (index + 0.5) * slotWidth;
  const [xLabel, yLabel] = panel.labels;
  const axes = axisElements({ ...panel, labels: ["", yLabel] }, { scale: center, ticks: bars.map(({ x }, index) => [index, x] as const) }, y, width);
  svg.append(...axes, text(xLabel, MARGIN.left - 6, HEIGHT - MARGIN.bottom + 15, "end"));
  bars.forEach(({ name, x, values }, index) => {
    let height = 0;
    for (const [part, value] of values) {
      const rect = element("rect", { x: center(index) - (BAR_SHARE * slotWidth) / 2, y: y.scale(height + value), width: BAR_SHARE * slotWidth, height: y.scale(height) - y.scale(height + value), style: `fill: ${partColor(parts, part)}` });
      svg.append(titled(rect, `${panel.names[name] ?? name}, ${x}: ${part} ${formatNumber(value)}`));
      height += value;
    }
    const [value, title] = printed.get(`${name} ${x}`) ?? [];
    if (value !== undefined) svg.append(titled(element("rect", { class: "mark-band", x: center(index) - slotWidth / 2, y: y.scale(Number(value)) - 2, width: slotWidth, height: 4 }), String(title)));
  });
  const groups = [...first].map(([name, dots], index, all) => [name, all.slice(0, index).reduce((sum, [, each]) => sum + each.length, 0) + (dots.length - 1) / 2] as const);
  svg.append(...groups.map(([name, middle]) => text(panel.names[name] ?? name, center(middle), HEIGHT - MARGIN.bottom + 29, "middle")));
  return svg;
}

/** The color of a part of a stack: the same in all panels. */
export function partColor(parts: ReadonlyMap<string, Series>, part: string): string {
  return adaptiveColor(SERIES[[...parts.keys()].sort().indexOf(part) % SERIES.length]!);
}

/** The color of a series, for light and dark pages. */
export function seriesColor(series: Series, name: string): string {
  const names = [...series.keys()];
  return adaptiveColor(SERIES[colorPlaces(names)[names.indexOf(name)]! % SERIES.length]!);
}

/** Whether the values that a statement refers to are among those drawn. */
export function isDrawn(statement: Statement, series: Series): boolean {
  return statement.of === "" || series.has(statement.of);
}

function describe(panel: Panel, series: Series): string {
  const names = [...series.keys()].map((name) => panel.names[name] ?? name).filter(Boolean).join(", ");
  return `${panel.title}: ${panel.labels[1]}${panel.labels[0] ? ` over ${panel.labels[0]}` : ""}${names ? `; ${names}` : ""}. The table below has the values.`;
}

function barSlots(panel: Panel, series: Series): string[] | null {
  if (panel.kind !== "bars") return null;
  const present = [...series.values()].flat().map((dot) => label(dot.x));
  const named = Object.keys(panel.names).filter((name) => present.includes(name));
  return named.length > 0 ? named : present;
}

function slotAxis(panel: Panel, slots: readonly string[], width: number): Axis {
  const slotWidth = (width - MARGIN.left - MARGIN.right) / slots.length;
  const scale: Scale = (index) => MARGIN.left + (index + 0.5) * slotWidth;
  return { scale, ticks: slots.map((slot, index) => [index, panel.names[slot] ?? slot] as const) };
}

function xAxis(panel: Panel, series: Series, width: number): Axis {
  const values = [...series.values()].flat().map((dot) => Number(dot.x));
  const [low, high] = panel.limits.x ?? [Math.min(...values, panel.log.includes("x") ? Infinity : 0), Math.max(...values)];
  return numberAxis(low, high, panel.log.includes("x"), MARGIN.left, width - MARGIN.right, Math.floor(width / 80));
}

function yAxis(panel: Panel, series: Series): Axis {
  const values = [...series.values()].flat().map((dot) => dot.y);
  const isLog = panel.log.includes("y") || (panel.log === "auto" && Math.max(...values) > LOG_RATIO * Math.min(...values));
  const printed = panel.printed.flatMap((statement) => (statement.from_x === null ? [] : [valueAt(series, statement.from_x) * (statement.by?.[1] ?? statement.by?.[0] ?? 1)]));
  const limit = panel.limits.y?.[1] || Infinity;
  const high = Math.min(Math.max(...values, ...printed.filter(Number.isFinite)) * 1.08, limit);
  return numberAxis(isLog ? Math.min(...values) / 1.1 : 0, high > 0 ? high : 1, isLog, HEIGHT - MARGIN.bottom, MARGIN.top, 6);
}

function numberAxis(low: number, high: number, isLog: boolean, from_px: number, to_px: number, count: number): Axis {
  const [start, end] = [isLog ? Math.log(low) : low, isLog ? Math.log(roundUp(high)) : high];
  const scale: Scale = (value) => {
    const share = ((isLog ? Math.log(value) : value) - start) / (end - start);
    return from_px + Math.max(-1, Math.min(2, share)) * (to_px - from_px);
  };
  const ticks = isLog ? logTicks(low, roundUp(high), count) : linearTicks(low, high, count);
  return { scale, ticks: ticks.map((tick) => [tick, tickText(tick)] as const) };
}

function axisElements(panel: Panel, x: Axis, y: Axis, width: number): SVGElement[] {
  const bottom = HEIGHT - MARGIN.bottom;
  const grid = y.ticks.flatMap(([value, name]) => [
    element("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y.scale(value), y2: y.scale(value) }),
    text(name, MARGIN.left - 6, y.scale(value) + 4, "end"),
  ]);
  const slotWidth = (width - MARGIN.left - MARGIN.right) / x.ticks.length;
  const isTight = x.ticks.some(([, name]) => name.length * 7 > slotWidth);
  const names = x.ticks.flatMap(([value, name]) => (isTight ? name.split(/\n|(?<=-)/) : [name.replace("\n", "")]).map((part, row) => text(part, x.scale(value), bottom + 15 + 13 * row, "middle")));
  const yLabel = text(panel.labels[1], 0, 0, "middle");
  yLabel.setAttribute("transform", `translate(13 ${(MARGIN.top + bottom) / 2}) rotate(-90)`);
  return [...grid, ...names, text(panel.labels[0], (MARGIN.left + width - MARGIN.right) / 2, HEIGHT - 6, "middle"), yLabel];
}

function line(dots: readonly Dot[], x: Scale, y: Scale, color: string): SVGElement[] {
  const points = dots.map((dot) => [x(Number(dot.x)), y(dot.y), dot] as const);
  const path = element("polyline", { class: "line", points: points.map(([left, top]) => `${left},${top}`).join(" "), style: `stroke: ${color}` });
  const marks = points.map(([cx, cy, dot]) => {
    const mark = element("circle", { cx, cy, r: 3, class: dot.isOverloaded ? "overloaded" : "", style: dot.isOverloaded ? `stroke: ${color}` : `fill: ${color}` });
    return titled(mark, `${formatNumber(Number(dot.x))}: ${formatNumber(dot.y)}${dot.isOverloaded ? ", overloaded" : ""}`);
  });
  return [path, ...marks];
}

function bars(dots: readonly Dot[], slots: readonly string[], x: Scale, y: Scale, color: string, width: number): SVGElement[] {
  const slotWidth = (width - MARGIN.left - MARGIN.right) / slots.length;
  return slots.flatMap((slot, index) => {
    const dot = dots.find((each) => label(each.x) === slot);
    if (!dot) return [];
    const top = y(dot.y);
    const bar = element("rect", { x: x(index) - (BAR_SHARE * slotWidth) / 2, y: top, width: BAR_SHARE * slotWidth, height: y(0) - top, style: `fill: ${color}` });
    return [titled(bar, `${slot}: ${formatNumber(dot.y)}`), text(formatNumber(dot.y), x(index), top - 4, "middle")];
  });
}

/** The place of a printed statement that refers to values which are drawn. */
function band(statement: Statement, series: Series, x: Scale, y: Scale, slots: readonly string[] | null, width: number): SVGElement[] {
  const { by, from_x, at_x } = statement;
  if (!by || !isDrawn(statement, series)) return [];
  if (from_x !== null && at_x !== null) {
    const base = valueAt(series, from_x);
    const [center, half] = slots ? [x(slots.indexOf(label(at_x))), (width - MARGIN.left - MARGIN.right) / slots.length / 2] : [x(Number(at_x)), 9];
    const [low, high] = [y(base * (by[0] ?? 0)), y(by[1] === null ? Infinity : base * by[1])];
    return [titled(element("rect", { class: "band", x: center - half, y: high - 1.5, width: 2 * half, height: low - high + 3 }), statement.text)];
  }
  const dots = (series.get(statement.of) ?? []).filter((dot) => typeof dot.x === "number") as (Dot & { x: number })[];
  const base = statement.along === "x" ? sampled(dots, statement.within) : dots.map((dot) => [dot.x, dot.y] as const);
  const edge = (end: number | null) => base.map(([left, top]) => (statement.along === "x" ? [x(left * (end ?? 1)), y(top)] : [x(left), y(top * (end ?? Infinity))]));
  const points = [...edge(by[0] ?? 0), ...edge(by[1]).reverse()];
  return points.length < 4 ? [] : [titled(element("polygon", { class: "band", points: points.map((point) => point.join(",")).join(" ") }), statement.text)];
}

/** Points of a curve at values of y within a range, where the curve first reaches them. */
function sampled(dots: readonly { x: number; y: number }[], within: Range | null): (readonly [number, number])[] {
  const [lowest, highest] = [dots[0]?.y ?? 0, Math.max(...dots.map((dot) => dot.y))];
  const [low, high] = [Math.max(within?.[0] ?? 0, lowest), Math.min(within?.[1] ?? Infinity, highest)];
  if (!(high > low) || low <= 0) return [];
  return Array.from({ length: BAND_STEPS + 1 }, (_, step) => low * (high / low) ** (step / BAND_STEPS)).flatMap((value) => {
    const index = dots.findIndex((dot, position) => position > 0 && dot.y >= value);
    if (index < 1) return [];
    const [lower, upper] = [dots[index - 1]!, dots[index]!];
    const share = Math.log(value / lower.y) / Math.log(upper.y / lower.y);
    return [[lower.x + share * (upper.x - lower.x), value] as const];
  });
}

function valueAt(series: Series, x: string | number): number {
  return [...series.values()].flat().find((dot) => label(dot.x) === label(x))?.y ?? NaN;
}

function text(content: string, x: number, y: number, anchor: string): SVGElement {
  const node = element("text", { x, y, "text-anchor": anchor });
  node.textContent = content;
  return node;
}

function titled(node: SVGElement, title: string): SVGElement {
  node.append(element("title", {}));
  node.firstElementChild!.textContent = title;
  return node;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== "") node.setAttribute(key, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
  return node;
}
