// The menu of a figure: save it as PNG, SVG or CSV, or link to it.

import { append } from "./dom.ts";
import { INK, PAPER, themed } from "./palette.ts";
import { svgDocument, type LegendEntry } from "./svg.ts";
import { traceCanvas } from "./trace.ts";

/** Pixels of a saved PNG for each pixel of an SVG. */
const PNG_SCALE = 2;

/** A drawing on a canvas, which is null before the first drawing. */
export interface Drawing {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement | null;
  /** Returns head and rows of the numbers drawn. */
  table?(): (string | number | null)[][];
  /** Paints the canvas again, at once: only such drawings can be saved as SVG. */
  repaint?(): void;
  /** Series whose names the canvas does not show. */
  legend?(): readonly LegendEntry[];
}

/** An entry of the menu. */
export interface MenuItem {
  readonly text: string;
  readonly act: () => void;
}

/**
 * Adds the menu to a figure.
 *
 * @param title Title of the figure, from which names of files are made.
 * @param drawings The interactive plots of the figure; none for a static one.
 */
export function addMenu(figure: HTMLElement, title: string, drawings: readonly Drawing[]): void {
  figure.id ||= uniqueId(fileName(title));
  addSaveMenu(figure, title, drawings, [{
    text: "Copy link",
    act: () => {
      const address = `${location.href.split("#")[0]}#${figure.id}`;
      if (location.protocol !== "about:") history.replaceState(null, "", `#${figure.id}`);
      void navigator.clipboard?.writeText(address).catch(() => undefined);
    },
  }]);
}

const fileName = (title: string): string => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "figure";

/** Adds a menu that saves a figure, with further items. */
export function addSaveMenu(figure: HTMLElement, title: string, drawings: readonly Drawing[], moreItems: readonly MenuItem[] = []): void {
  const fileStem = fileName(title);
  const menu = append("details", figure, "", { class: "figure-menu" });
  append("summary", menu, "Save", { "aria-label": `Save ${title}` });
  const items = append("div", menu, "", { class: "figure-menu-items" });
  const addItem = ({ text, act }: MenuItem) => {
    append("button", items, text, { type: "button" }).onclick = () => {
      act();
      menu.open = false;
    };
  };
  const picture = figure.querySelector("svg");
  addItem({ text: "PNG", act: () => void savePng(fileStem, title, drawings, picture) });
  const canBeTraced = drawings.length > 0 && drawings.every((drawing) => drawing.repaint);
  if (picture || canBeTraced) addItem({ text: "SVG", act: () => save(`${fileStem}.svg`, new Blob([picture ? svgText(picture) : plotsAsSvg(title, drawings)], { type: "image/svg+xml" })) });
  if (drawings.some((drawing) => drawing.table)) {
    addItem({ text: "CSV", act: () => save(`${fileStem}.csv`, new Blob([drawings.map((drawing) => csv(drawing.table?.() ?? [])).join("\r\n")], { type: "text/csv" })) });
  }
  moreItems.forEach(addItem);
  menu.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")!.focus();
  };
}

function uniqueId(name: string): string {
  const id = `figure-${name}`;
  let freeId = id;
  for (let number = 2; document.getElementById(freeId); number++) freeId = `${id}-${number}`;
  return freeId;
}

/** Returns rows as CSV (RFC 4180); texts that a spreadsheet would run as formulas are quoted. */
export function csv(rows: readonly (readonly (string | number | null)[])[]): string {
  const formatCell = (value: string | number | null) => {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    const safeText = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText;
  };
  return rows.map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");
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

/** Returns the plots as they are shown, below each other, as an SVG document. */
function plotsAsSvg(title: string, drawings: readonly Drawing[]): string {
  const parts = drawings.flatMap((drawing, index) => {
    const { canvas } = drawing;
    if (!canvas) return [];
    const elements = traceCanvas(canvas.getContext("2d")!, () => drawing.repaint?.(), `plot-${index}`);
    const label = drawing.element.querySelector(".live-name")?.textContent ?? "";
    return [{ label, width: canvas.width / devicePixelRatio, height: canvas.height / devicePixelRatio, scale: devicePixelRatio, elements, legend: drawing.legend?.() ?? [] }];
  });
  return svgDocument(title, parts, { paper: themed(PAPER), ink: themed(INK) });
}

/** Saves the plots as they are shown, below each other, or a static figure. */
async function savePng(fileStem: string, title: string, drawings: readonly Drawing[], picture: SVGElement | null): Promise<void> {
  const shownDrawings = drawings.filter((drawing) => drawing.canvas);
  const parts = shownDrawings.length > 0 ? shownDrawings.map(({ canvas }) => canvas!) : picture ? [await rasterize(picture)] : [];
  if (parts.length === 0) return;
  const space_px = 30 * devicePixelRatio;
  const sheet = document.createElement("canvas");
  sheet.width = Math.max(...parts.map(({ width }) => width));
  sheet.height = space_px + parts.reduce((sum, { height }) => sum + height + (shownDrawings.length > 0 ? space_px : 0), 0);
  const pen = sheet.getContext("2d")!;
  pen.fillStyle = shownDrawings.length > 0 ? themed(PAPER) : PAPER;
  pen.fillRect(0, 0, sheet.width, sheet.height);
  const write = (text: string, y: number, weight: string) => {
    pen.fillStyle = shownDrawings.length > 0 ? themed(INK) : INK;
    pen.font = `${weight} ${13 * devicePixelRatio}px system-ui, sans-serif`;
    pen.fillText(text, 8 * devicePixelRatio, y + 19 * devicePixelRatio);
  };
  write(title, 0, "bold");
  let top = space_px;
  parts.forEach((part, index) => {
    const label = shownDrawings[index]?.element.querySelector(".live-name")?.textContent;
    if (label) {
      write(label, top, "normal");
      top += space_px;
    }
    pen.drawImage(part, 0, top);
    top += part.height;
  });
  const blob = await new Promise<Blob | null>((resolve) => sheet.toBlob(resolve, "image/png"));
  if (blob) save(`${fileStem}.png`, blob);
}

async function rasterize(picture: SVGElement): Promise<HTMLCanvasElement> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await image.decode();
  const { width, height } = (picture as SVGSVGElement).viewBox.baseVal;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * PNG_SCALE, height * PNG_SCALE];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}
