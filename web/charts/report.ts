// Makes a report interactive: plots replace pictures that have their numbers next to them, and tables can be copied.

import { Bars } from "./bars.ts";
import { addCopyButton } from "./copy.ts";
import { Curves } from "./curves.ts";
import { TimeMap } from "./map.ts";
import { addMenu } from "./menu.ts";
import type { PanelData } from "./panel.ts";
import type { Plot } from "./plot.ts";

/** Height of a plot's controls and labels, in pixels. */
const CONTROLS_PX = 40;
const MIN_HEIGHT_PX = 180;

function plot(panel: PanelData, figure: Element, title: string, height: number): Plot {
  const Kind = panel.map ? TimeMap : panel.rows ? Bars : Curves;
  return new Kind(panel, figure, title, height);
}

for (const figure of document.querySelectorAll<HTMLElement>("figure")) {
  const picture = figure.querySelector("svg");
  if (!picture) continue;
  const title = (figure.querySelector("h3") ?? picture.querySelector("title") ?? figure).textContent.trim();
  const data = figure.querySelector(':scope > script[type="application/json"]');
  const panels = data ? (JSON.parse(data.textContent) as PanelData[]) : [];
  const height = picture.getBoundingClientRect().height || 300;
  const plots = panels.map((panel) => plot(panel, figure, title, Math.max(MIN_HEIGHT_PX, height / panels.length - CONTROLS_PX)));
  // Only now: the picture stays if a plot fails.
  if (plots.length > 0) figure.classList.add("explored");
  addMenu(figure, title, plots);
}
for (const table of document.querySelectorAll("table")) addCopyButton(table);
document.documentElement.dataset["live"] = String(Math.round(performance.now()));
