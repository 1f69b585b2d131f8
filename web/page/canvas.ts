// A canvas as wide as the element around it, sharp on every screen.

import { el } from "./dom.ts";
import type { Drawing } from "../charts/menu.ts";
import { PAPER } from "./palette.ts";

export const FONT = '12px "Inter", system-ui, sans-serif';

export class Sheet implements Drawing {
  readonly canvas: HTMLCanvasElement;
  width = 0;
  private readonly pen: CanvasRenderingContext2D;
  private readonly layerCanvas = document.createElement("canvas");
  private layerKey = "";

  /** `label` is what screen readers say of the canvas; `heightForWidth` is its height in pixels at a width. */
  constructor(label: string, readonly heightForWidth: (width: number) => number, onResize: () => void, classes = "") {
    this.canvas = el("canvas", { role: "img", "aria-label": label, class: classes || undefined });
    this.pen = this.canvas.getContext("2d")!;
    new ResizeObserver(() => {
      if (this.measure()) onResize();
    }).observe(this.canvas);
  }

  get element(): HTMLElement {
    return this.canvas;
  }

  get height(): number {
    return this.heightForWidth(this.width);
  }

  /** Clears the canvas and returns a pen that draws in pixels of the page; null where the canvas is not shown. */
  begin(): CanvasRenderingContext2D | null {
    if (this.width === 0) this.measure();
    if (this.width === 0) return null;
    const ratio = window.devicePixelRatio || 1;
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.pen.font = FONT;
    this.pen.textBaseline = "middle";
    this.pen.textAlign = "left";
    this.pen.lineWidth = 1;
    this.pen.setLineDash([]);
    return this.pen;
  }

  /**
   * Draws a layer below all that is drawn later; `paint` draws it anew only where `key` differs from the last one.
   * To be called after `begin`.
   */
  layer(key: string, paint: (pen: CanvasRenderingContext2D) => void): void {
    const { width, height } = this.canvas;
    const fullKey = `${key} ${width} ${height} ${PAPER}`;
    if (fullKey !== this.layerKey) {
      this.layerKey = fullKey;
      [this.layerCanvas.width, this.layerCanvas.height] = [width, height];
      const pen = this.layerCanvas.getContext("2d")!;
      const ratio = window.devicePixelRatio || 1;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.font = FONT;
      pen.textBaseline = "middle";
      paint(pen);
    }
    this.pen.drawImage(this.layerCanvas, 0, 0, this.width, this.height);
  }

  setLabel(text: string): void {
    if (this.canvas.getAttribute("aria-label") !== text) this.canvas.setAttribute("aria-label", text);
  }

  private measure(): boolean {
    const width = this.canvas.parentElement ? this.canvas.clientWidth : 0;
    if (width === 0 || width === this.width) return false;
    this.width = width;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    return true;
  }
}
