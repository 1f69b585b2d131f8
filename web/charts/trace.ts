// Plots as SVG: a plot paints its canvas again, and each call that paints becomes an element.

import { element, escapeXml, round } from "./svg.ts";

type Pen = CanvasRenderingContext2D;
type Box = [left: number, top: number, width: number, height: number];

const ANCHORS: Readonly<Record<string, string>> = { center: "middle", right: "end", end: "end" };

/** The outline of a path as SVG has it; arcs are whole circles. */
class Outline {
  constructor(public d = "") {}
  static ofBox(...box: Box): string {
    const outline = new Outline();
    outline.rect(...box);
    return outline.d;
  }
  private add(command: string, ...numbers: readonly number[]): void {
    this.d += command + numbers.map(round).join(" ");
  }
  moveTo(x: number, y: number): void { this.add("M", x, y); }
  lineTo(x: number, y: number): void { this.add(this.d ? "L" : "M", x, y); }
  closePath(): void { this.add("Z"); }
  rect(...[x, y, width, height]: Box): void { this.d += `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`; }
  arc(x: number, y: number, radius: number): void {
    if (!this.d.endsWith(`M${round(x + radius)} ${round(y)}`)) this.lineTo(x + radius, y);
    for (const side of [-1, 1]) this.add("A", radius, radius, 0, 1, 1, x + side * radius, y);
  }
}

/** Returns a `Path2D` whose paths keep their outline as `d`. */
function tracedPath2D(): typeof Path2D {
  return class extends Path2D {
    private readonly outline: Outline;
    constructor(from?: Path2D | string) {
      super(from);
      this.outline = new Outline((from as { d?: string } | undefined)?.d);
    }
    get d(): string { return this.outline.d; }
    override moveTo(x: number, y: number): void { super.moveTo(x, y); this.outline.moveTo(x, y); }
    override lineTo(x: number, y: number): void { super.lineTo(x, y); this.outline.lineTo(x, y); }
    override closePath(): void { super.closePath(); this.outline.closePath(); }
    override rect(...box: Box): void { super.rect(...box); this.outline.rect(...box); }
    override arc(x: number, y: number, radius: number, from: number, to: number): void { super.arc(x, y, radius, from, to); this.outline.arc(x, y, radius); }
  };
}

/** Returns the attributes of a font, as canvases write it: style or weight, size and family. */
function fontAttributes(font: string): Record<string, string | undefined> {
  const [, style = "", size, family] = /^(.*?)([\d.]+)px (.*)$/.exec(font) ?? [];
  return { "font-family": family?.replaceAll('"', "'"), "font-size": size, "font-weight": style.includes("bold") ? "bold" : undefined };
}

/** Returns a color with its opacity apart, since not all programs read colors that have both. */
function paintAttributes(key: "fill" | "stroke", color: string, alpha: number): Record<string, string | number | undefined> {
  const [, rgb, ownAlpha] = /^rgba\((.*), ([\d.]+)\)$/.exec(color) ?? [];
  const opacity = alpha * Number(ownAlpha ?? 1);
  return { [key]: rgb ? `rgb(${rgb})` : color, [`${key}-opacity`]: opacity < 1 ? opacity : undefined };
}

/** Returns what a function paints with a pen, as elements of SVG; `id` begins the names of clipping paths. */
export function traceCanvas(pen: Pen, repaint: () => void, id: string): string {
  const [elements, clips, savedClips]: [string[], string[], string[]] = [[], [], []];
  let [outline, clip, group] = [new Outline(), "", ""];
  const add = (svg: string) => {
    if (clip !== group) elements.push(group && "</g>", clip && `<g clip-path="url(#${clip})">`);
    group = clip;
    elements.push(svg);
  };
  const outlineOf = (path: Path2D | undefined) => (path as { d?: string } | undefined)?.d ?? outline.d;
  const transformAttribute = () => {
    const { a, b, c, d, e, f } = pen.getTransform();
    const numbers = [a, b, c, d, e, f].map(round).join(" ");
    return { transform: numbers === "1 0 0 1 0 0" ? undefined : `matrix(${numbers})` };
  };
  const fill = (d: string) => add(element("path", { d, ...transformAttribute(), ...paintAttributes("fill", pen.fillStyle as string, pen.globalAlpha) }));
  const stroke = (d: string) => add(element("path", {
    d, ...transformAttribute(), fill: "none", ...paintAttributes("stroke", pen.strokeStyle as string, pen.globalAlpha), "stroke-width": pen.lineWidth,
    "stroke-linejoin": pen.lineJoin === "miter" ? undefined : pen.lineJoin, "stroke-dasharray": pen.getLineDash().map(round).join(" ") || undefined,
  }));
  const tracedMethods = {
    beginPath: () => { outline = new Outline(); },
    moveTo: (x: number, y: number) => outline.moveTo(x, y),
    lineTo: (x: number, y: number) => outline.lineTo(x, y),
    closePath: () => outline.closePath(),
    rect: (...box: Box) => outline.rect(...box),
    arc: (x: number, y: number, radius: number) => outline.arc(x, y, radius),
    save: () => { savedClips.push(clip); },
    restore: () => { clip = savedClips.pop() ?? ""; },
    clip: (path?: Path2D) => {
      // A clipping path inside another one keeps what both have in common.
      const shape = element("clipPath", { id: "", "clip-path": clip ? `url(#${clip})` : undefined }, element("path", { d: outlineOf(path), ...transformAttribute() }));
      if (!clips.includes(shape)) clips.push(shape);
      clip = `${id}-${clips.indexOf(shape)}`;
    },
    fill: (path?: Path2D) => fill(outlineOf(path)),
    stroke: (path?: Path2D) => stroke(outlineOf(path)),
    fillRect: (...box: Box) => fill(Outline.ofBox(...box)),
    strokeRect: (...box: Box) => stroke(Outline.ofBox(...box)),
    fillText: (text: string, x: number, y: number) => add(element("text", {
      x, y: y - pen.measureText(text).alphabeticBaseline, ...transformAttribute(), ...paintAttributes("fill", pen.fillStyle as string, pen.globalAlpha), ...fontAttributes(pen.font),
      "text-anchor": ANCHORS[pen.textAlign],
    }, escapeXml(text))),
    putImageData: (image: ImageData, x: number, y: number) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d")!.putImageData(image, 0, 0);
      add(element("image", { x, y, width: image.width, height: image.height, href: canvas.toDataURL() }));
    },
  };
  const ownMethods = pen as unknown as Record<string, unknown>;
  const nativePath2D = globalThis.Path2D as typeof Path2D | undefined;
  try {
    if (nativePath2D) globalThis.Path2D = tracedPath2D();
    for (const [name, trace] of Object.entries(tracedMethods) as [string, (...args: unknown[]) => void][]) {
      const nativeMethod = ownMethods[name] as (...args: unknown[]) => void;
      ownMethods[name] = (...args: unknown[]) => {
        trace(...args);
        nativeMethod.apply(pen, args);
      };
    }
    repaint();
  } finally {
    if (nativePath2D) globalThis.Path2D = nativePath2D;
    // The methods of the prototype are visible again.
    for (const name of Object.keys(tracedMethods)) delete ownMethods[name];
  }
  const clipDefinitions = clips.map((shape, index) => shape.replace('id=""', `id="${id}-${index}"`)).join("");
  return (clipDefinitions && element("defs", {}, clipDefinitions)) + elements.join("") + (group && "</g>");
}
