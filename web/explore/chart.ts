// A panel as SVG: lines or bars, and what the paper prints in yellow.

import { colorPlaces, SERIES, adaptiveColor } from "../charts/palette.ts";
import { linearTicks, logTicks, roundUp, tickText } from "../charts/ticks.ts";
import { formatNumber } from "../page/format.ts";
import type { Panel, Range, Statement } from "./description.ts";
import type { Row } from "./runs.ts";
import { label, panelParts, panelSeries, type Dot, type Series } from "./values.ts";

const HEIGHT = 270;
const MARGIN = { top: 12, right: 12, bottom: 44, left: 56 };
const BOTTOM = HEIGHT - MARGIN.bottom;
/** Share of its slot that a bar takes. */
const BAR_SHARE = 0.64;
const BAND_STEPS = 24;
/** Half of the width of a statement about one place. */
const PLACE_PX = 9;
/** A y axis is logarithmic, where the panel leaves that open, if values differ by this factor. */
const LOG_RATIO = 50;

/** Pixels of values; values outside of the axis are outside of the plot, which clips them. */
type Scale = (value: number) => number;

interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly (readonly [number, string])[];
}

/** A panel, and the attributes of the swatches in its legend by their texts. */
export interface Drawing {
  readonly svg: SVGElement;
  readonly legend: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/** A bar: its parts from the bottom, with its place on the x axis. */
interface Bar {
  readonly group: string;
  readonly slot: string;
  readonly values: readonly (readonly [part: string, value: number])[];
}

let plotCount = 0;

/** Draws a panel with a width in pixels; `scale` multiplies printed values of bars, which are of the paper's size. */
export function drawPanel(panel: Panel, rows: readonly Row[], width: number, scale: number): Drawing {
  const parts = new Map(panelParts(panel).map(([part, column]) => [part, panelSeries(panel, rows, column)]));
  const series = [...parts.values()][0]!;
  const svg = element("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": describe(panel, series) });
  const clip = element("clipPath", { id: `plot-${++plotCount}` });
  const plot = element("g", { "clip-path": `url(#plot-${plotCount})` });
  // Dots at the ends of axes are whole.
  clip.append(element("rect", { x: MARGIN.left - 4, y: MARGIN.top - 4, width: width - MARGIN.left - MARGIN.right + 8, height: BOTTOM - MARGIN.top + 8 }));
  const [axes, marks] = panel.kind === "lines" ? lines(panel, series, width) : bars(panel, parts, width, scale);
  plot.append(...marks);
  svg.append(clip, ...axes, plot);

  const names = panel.kind === "stack" ? [...parts.keys()].sort() : panel.series ? [...series.keys()] : [];
  const swatches = names.map((name) => [panel.names[name] ?? name, { style: `background: ${color(names, name)}` }] as const);
  const statements = panel.printed.filter((statement) => isDrawn(statement, series)).map(({ text: title }) => [title, { class: "band" }] as const);
  return { svg, legend: new Map<string, Record<string, string>>([...swatches, ...statements]) };
}

/** The color of one of several names, for light and dark pages. */
function color(names: readonly string[], name: string): string {
  return adaptiveColor(SERIES[colorPlaces(names)[names.indexOf(name)]! % SERIES.length]!);
}

/** Whether the values that a statement refers to are among those drawn. */
function isDrawn(statement: Statement, series: Series): boolean {
  return statement.of === "" || series.has(statement.of);
}

function describe(panel: Panel, series: Series): string {
  const names = [...series.keys()].map((name) => panel.names[name] ?? name).filter(Boolean).join(", ");
  return `${panel.title}: ${panel.labels[1]}${panel.labels[0] ? ` over ${panel.labels[0]}` : ""}${names ? `; ${names}` : ""}. The table below has the values.`;
}

/** Axes and marks of bars, which are stacked where they have parts. */
function bars(panel: Panel, parts: ReadonlyMap<string, Series>, width: number, scale: number): [SVGElement[], SVGElement[]] {
  const all = panelBars(panel, parts);
  const spans = printedSpans(panel, all, scale);
  const highest = Math.max(...all.map(height), ...spans.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite));
  const y = numberAxis(0, 1.08 * highest, false, BOTTOM, MARGIN.top, 6);
  const slot_px = (width - MARGIN.left - MARGIN.right) / all.length;
  const x: Axis = { scale: (index) => MARGIN.left + (index + 0.5) * slot_px, ticks: all.map(({ slot }, index) => [index, panel.names[slot] ?? slot] as const) };
  const names = [...parts.keys()].sort();
  const marks = all.flatMap((bar, index) => {
    let bottom = 0;
    const rects = bar.values.map(([part, value]) => {
      const top = bottom + value;
      const rect = element("rect", { x: x.scale(index) - (BAR_SHARE * slot_px) / 2, y: y.scale(top), width: BAR_SHARE * slot_px, height: y.scale(bottom) - y.scale(top), style: `fill: ${color(names, part)}` });
      bottom = top;
      return titled(rect, `${[panel.names[bar.group] ?? bar.group, bar.slot, part].filter(Boolean).join(", ")}: ${formatNumber(value)}`);
    });
    return parts.size > 1 ? rects : [...rects, text(formatNumber(bottom), x.scale(index), y.scale(bottom) - 4, "middle")];
  });
  const bands = (isValue: boolean) => spans.filter(({ low, high }) => (low === high) === isValue).map(({ index, low, high, title }) => {
    const [top, bottom] = [y.scale(high) - 2, y.scale(low) + 2];
    return titled(element("rect", { class: isValue ? "printed" : "band", x: x.scale(index) - slot_px / 2, y: top, width: slot_px, height: bottom - top }), title);
  });
  const groups = [...new Set(all.map(({ group }) => group))].map((group) => {
    const indexes = all.flatMap((bar, index) => (bar.group === group ? [index] : []));
    return text(panel.names[group] ?? group, x.scale((indexes[0]! + indexes.at(-1)!) / 2), BOTTOM + 29, "middle");
  });
  return [[...axisElements(x, y, panel.labels[1], width), ...groups, text(panel.labels[0], MARGIN.left - 6, BOTTOM + 15, "end")], [...bands(false), ...marks, ...bands(true)]];
}

/** The bars of a panel, in the order of its names. */
function panelBars(panel: Panel, parts: ReadonlyMap<string, Series>): Bar[] {
  const all = [...[...parts.values()][0]!].flatMap(([group, dots]) => dots.map(({ x }, index) => ({
    group, slot: label(x), values: [...parts].map(([part, series]) => [part, series.get(group)![index]!.y] as const),
  })));
  const names = Object.keys(panel.names);
  return panel.series ? all : all.filter(({ slot }) => names.includes(slot)).sort((one, other) => names.indexOf(one.slot) - names.indexOf(other.slot));
}

function height({ values }: Bar): number {
  return values.reduce((sum, [, value]) => sum + value, 0);
}

/** Printed values at bars, and those relative to another bar. */
function printedSpans({ printed }: Panel, all: readonly Bar[], scale: number): { index: number; low: number; high: number; title: string }[] {
  const find = (place: unknown) => all.findIndex(({ group, slot }) => (group ? `${group} ${slot}` : slot) === label(place));
  return printed.flatMap(({ text: title, at, by, at_x, from_x }) => {
    const values = at.map(([place, value]) => ({ index: find(place), low: value * scale, high: value * scale, title }));
    const base = all[find(from_x)];
    return base && by ? [...values, { index: find(at_x), low: height(base) * (by[0] ?? 0), high: height(base) * (by[1] ?? Infinity), title }] : values;
  }).filter(({ index }) => index >= 0);
}

/** Axes and marks of lines. */
function lines(panel: Panel, series: Series, width: number): [SVGElement[], SVGElement[]] {
  const [x, y] = [xAxis(panel, series, width), yAxis(panel, series)];
  const bands = panel.printed.flatMap((statement) => band(statement, series, x.scale, y.scale));
  const curves = [...series].flatMap(([name, dots]) => curve(dots, x.scale, y.scale, color([...series.keys()], name)));
  const xLabel = text(panel.labels[0], (MARGIN.left + width - MARGIN.right) / 2, HEIGHT - 6, "middle");
  return [[...axisElements(x, y, panel.labels[1], width), xLabel], [...bands, ...curves]];
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
  return numberAxis(isLog ? Math.min(...values) / 1.1 : 0, high > 0 ? high : 1, isLog, BOTTOM, MARGIN.top, 6);
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

/** Grid, numbers and names at the axes, and the label of the y axis. */
function axisElements(x: Axis, y: Axis, yLabel: string, width: number): SVGElement[] {
  const grid = y.ticks.flatMap(([value, name]) => [
    element("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y.scale(value), y2: y.scale(value) }),
    text(name, MARGIN.left - 6, y.scale(value) + 4, "end"),
  ]);
  const slot_px = (width - MARGIN.left - MARGIN.right) / x.ticks.length;
  const isTight = x.ticks.some(([, name]) => name.length * 7 > slot_px);
  const names = x.ticks.flatMap(([value, name]) => (isTight ? name.split(/\n|(?<=-)/) : [name.replace("\n", "")]).map((part, row) => text(part, x.scale(value), BOTTOM + 15 + 13 * row, "middle")));
  const yText = text(yLabel, 0, 0, "middle");
  yText.setAttribute("transform", `translate(13 ${(MARGIN.top + BOTTOM) / 2}) rotate(-90)`);
  return [...grid, ...names, yText];
}

function curve(dots: readonly Dot[], x: Scale, y: Scale, stroke: string): SVGElement[] {
  const points = dots.map((dot) => [x(Number(dot.x)), y(dot.y), dot] as const);
  const path = element("polyline", { class: "line", points: points.map(([left, top]) => `${left},${top}`).join(" "), style: `stroke: ${stroke}` });
  const marks = points.map(([cx, cy, dot]) => {
    const mark = element("circle", { cx, cy, r: 3, class: dot.isOverloaded ? "overloaded" : "", style: dot.isOverloaded ? `stroke: ${stroke}` : `fill: ${stroke}` });
    return titled(mark, `${formatNumber(Number(dot.x))}: ${formatNumber(dot.y)}${dot.isOverloaded ? ", overloaded" : ""}`);
  });
  return [path, ...marks];
}

/** The place of a printed statement that refers to curves which are drawn. */
function band(statement: Statement, series: Series, x: Scale, y: Scale): SVGElement[] {
  const { by, from_x, at_x } = statement;
  if (!by || !isDrawn(statement, series)) return [];
  if (from_x !== null && at_x !== null) {
    const base = valueAt(series, from_x);
    const [low, high] = [y(base * (by[0] ?? 0)), y(base * (by[1] ?? Infinity))];
    return [titled(element("rect", { class: "band", x: x(Number(at_x)) - PLACE_PX, y: high - 1.5, width: 2 * PLACE_PX, height: low - high + 3 }), statement.text)];
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
