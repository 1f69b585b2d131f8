// The menu of a figure: save it as PNG, SVG or CSV, or link to it.

import { append, type Explorable } from "./plot.ts";
import { PAPER, themed } from "./palette.ts";

/** Pixels of a saved PNG for each pixel of an SVG. */
const PNG_SCALE = 2;

/**
 * Adds the menu to a figure.
 *
 * @param title Title of the figure, from which names of files are made.
 * @param plots The interactive plots of the figure; none for a static one.
 */
export function addMenu(figure: HTMLElement, title: string, plots: readonly Explorable[]): void {
  const file = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "figure";
  figure.id ||= uniqueId(file);
  const menu = append("details", figure, "", { class: "figure-menu" });
  append("summary", menu, "Save", { "aria-label": `Save or link to ${title}` });
  const items = append("div", menu, "", { class: "figure-menu-items" });
  const item = (text: string, act: () => void) => {
    append("button", items, text, { type: "button" }).onclick = () => {
      act();
      menu.open = false;
    };
  };
  const picture = figure.querySelector("svg");
  item("PNG", () => void savePng(file, title, plots, picture));
  if (picture) item("SVG", () => save(`${file}.svg`, new Blob([svgText(picture)], { type: "image/svg+xml" })));
  if (plots.length > 0) item("CSV", () => save(`${file}.csv`, new Blob([plots.map((plot) => csv(plot.table())).join("\r\n")], { type: "text/csv" })));
  item("Copy link", () => {
    const address = `${location.href.split("#")[0]}#${figure.id}`;
    if (location.protocol !== "about:") history.replaceState(null, "", `#${figure.id}`);
    void navigator.clipboard?.writeText(address).catch(() => undefined);
  });
  menu.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")!.focus();
  };
}

function uniqueId(name: string): string {
  const id = `figure-${name}`;
  let free = id;
  for (let number = 2; document.getElementById(free); number++) free = `${id}-${number}`;
  return free;
}

/** Returns rows as CSV (RFC 4180); texts that a spreadsheet would run as formulas are quoted. */
export function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function save(name: string, contents: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(contents);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function svgText(picture: SVGElement): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${new XMLSerializer().serializeToString(picture)}`;
}

/** Saves the plots as they are shown, below each other, or a static figure. */
async function savePng(file: string, title: string, plots: readonly Explorable[], picture: SVGElement | null): Promise<void> {
  const parts = plots.length > 0 ? plots.map(({ canvas }) => canvas) : picture ? [await rasterized(picture)] : [];
  const space = 30 * devicePixelRatio;
  const sheet = document.createElement("canvas");
  sheet.width = Math.max(...parts.map(({ width }) => width));
  sheet.height = space + parts.reduce((sum, { height }) => sum + height + (plots.length > 0 ? space : 0), 0);
  const pen = sheet.getContext("2d")!;
  pen.fillStyle = plots.length > 0 ? themed(PAPER) : PAPER;
  pen.fillRect(0, 0, sheet.width, sheet.height);
  const write = (text: string, y: number, weight: string) => {
    pen.fillStyle = plots.length > 0 ? themed("#1b1f24") : "#1b1f24";
    pen.font = `${weight} ${13 * devicePixelRatio}px system-ui, sans-serif`;
    pen.fillText(text, 8 * devicePixelRatio, y + 19 * devicePixelRatio);
  };
  write(title, 0, "bold");
  let top = space;
  parts.forEach((part, index) => {
    const label = plots[index]?.element.querySelector(".live-name")?.textContent;
    if (label) {
      write(label, top, "normal");
      top += space;
    }
    pen.drawImage(part, 0, top);
    top += part.height;
  });
  const blob = await new Promise<Blob | null>((done) => sheet.toBlob(done, "image/png"));
  if (blob) save(`${file}.png`, blob);
}

async function rasterized(picture: SVGElement): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  const { width, height } = (picture as SVGSVGElement).viewBox.baseVal;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * PNG_SCALE, height * PNG_SCALE];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
