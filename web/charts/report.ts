// Makes a report interactive: draws the figures that have their numbers next to them; tables can be copied.

import { Bars } from "./bars.ts";
import { addCopyButton } from "./copy.ts";
import { Curves } from "./curves.ts";
import { TimeMap } from "./map.ts";
import { addMenu } from "./menu.ts";
import { NamedBars } from "./named.ts";
import type { PanelData } from "./panel.ts";
import type { Plot } from "./plot.ts";
import { addScrollNote } from "./scroll.ts";

/** Heights of plots, as shares of their widths, and their limits in pixels. */
const CURVES_SHARE = 0.54;
const STACKED_SHARE = 0.36;
const MAP_SHARE = 0.76;
const [MIN_PX, MAX_PX] = [180, 480];
/** Height of a row of bars over time, by the number of rows, and of the axis below. */
const rowPx = (rows: number): number => Math.max(18, 32 - 0.5 * rows);
const AXIS_PX = 60;

function createPlot(panel: PanelData, figure: Element, title: string, plotCount: number): Plot {
  const width = figure.clientWidth || 480;
  const heightShare = panel.map ? MAP_SHARE : plotCount > 1 ? STACKED_SHARE : CURVES_SHARE;
  const height = Math.min(Math.max(width * heightShare, MIN_PX), MAX_PX);
  if (panel.named) return new NamedBars(panel, figure, title);
  if (panel.map) return new TimeMap(panel, figure, title, height);
  if (panel.rows) return new Bars(panel, figure, title, AXIS_PX + rowPx(panel.rows.length) * panel.rows.length);
  return new Curves(panel, figure, title, height);
}

/** Draws the plots of a figure. If that fails, the figure has the tables for readers without JavaScript. */
function drawPlots(figure: HTMLElement, title: string, panelScript: Element): Plot[] {
  const panels = JSON.parse(panelScript.textContent) as PanelData[];
  try {
    return panels.map((panel) => createPlot(panel, figure, title, panels.length));
  } catch (error) {
    console.error(error);
    for (const element of figure.querySelectorAll(".live")) element.remove();
    figure.insertAdjacentHTML("beforeend", figure.querySelector("noscript")?.textContent ?? "");
    return [];
  }
}

for (const figure of document.querySelectorAll<HTMLElement>("figure")) {
  const data = figure.querySelector<HTMLElement>(':scope > script[type="application/json"]');
  const title = (figure.querySelector("h3")?.textContent ?? data?.dataset["title"] ?? figure.querySelector("svg title")?.textContent ?? "").trim();
  const plots = data ? drawPlots(figure, title, data) : [];
  addMenu(figure, title, plots);
}
for (const table of document.querySelectorAll("table")) {
  addScrollNote(table);
  addCopyButton(table);
}
document.documentElement.dataset["live"] = String(Math.round(performance.now()));
