// SVG documents of plots.

/** A plot of a figure, with sizes in pixels of the page. */
export interface SvgPart {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  /** Pixels of the canvas for each pixel of the page. */
  readonly scale: number;
  /** Elements of the plot, in pixels of the canvas. */
  readonly elements: string;
  readonly legend: readonly LegendEntry[];
}

export interface LegendEntry {
  readonly name: string;
  readonly color: string;
  /** Width of the name in pixels. */
  readonly width: number;
}

/** Colors of the paper and of texts. */
export interface SvgColors {
  readonly paper: string;
  readonly ink: string;
}

const FONT_FAMILY = "system-ui, 'DejaVu Sans', sans-serif";
const LINE_PX = 30;
const LEGEND_PX = 20;
const SWATCH_PX = 12;

/** Rounds to a hundredth of a pixel. */
export const round = (value: number): number => Math.round(value * 100) / 100;

/** Returns a text for SVG, without the characters that XML does not allow. */
export function escapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "").replace(/[&<>"]/g, (character) => entities[character]!);
}

/** Returns an element; `contents` is SVG. Attributes without a value are omitted. */
export function element(name: string, attributes: Readonly<Record<string, string | number | undefined>>, contents = ""): string {
  const attributeText = Object.entries(attributes).filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : escapeXml(value!)}"`).join("");
  return `<${name}${attributeText}${contents ? `>${contents}</${name}` : "/"}>`;
}

/** Returns a document with plots below each other, each with its label above and its legend below. */
export function svgDocument(title: string, parts: readonly SvgPart[], { paper, ink }: SvgColors): string {
  const textElement = (text: string, x: number, y: number, size: number, weight?: string) =>
    element("text", { x, y, fill: ink, "font-family": FONT_FAMILY, "font-size": size, "font-weight": weight }, escapeXml(text));
  let top = LINE_PX;
  const plotElements = parts.map(({ label, width, height, scale, elements, legend }) => {
    const columnWidth = Math.max(...legend.map((entry) => entry.width)) + SWATCH_PX + 20;
    const columnCount = Math.max(1, Math.floor(width / columnWidth));
    const plotTop = top + LINE_PX;
    const legendElements = legend.map(({ name, color }, index) => {
      const [x, y] = [8 + (index % columnCount) * columnWidth, plotTop + height + 6 + Math.floor(index / columnCount) * LEGEND_PX];
      return element("rect", { x, y, width: SWATCH_PX, height: SWATCH_PX, fill: color }) + textElement(name, x + SWATCH_PX + 6, y + 10, 12);
    });
    top = plotTop + height + (legend.length > 0 ? Math.ceil(legend.length / columnCount) * LEGEND_PX + 6 : 0);
    const plotElement = element("g", { transform: `translate(0 ${round(plotTop)}) scale(${1 / scale})` }, elements);
    return element("g", {}, textElement(label, 8, plotTop - 11, 13) + plotElement + legendElements.join(""));
  });
  const width = Math.max(0, ...parts.map((part) => part.width));
  const contents = [element("title", {}, escapeXml(title)), element("rect", { width, height: top, fill: paper }), textElement(title, 8, 19, 13, "bold"), ...plotElements];
  return `<?xml version="1.0" encoding="utf-8"?>\n${element("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: top, viewBox: `0 0 ${round(width)} ${round(top)}` }, contents.join("\n"))}\n`;
}
