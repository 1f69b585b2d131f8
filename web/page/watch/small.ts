// All stations of a system side by side, small: the position of each mechanism and its number of waiting requests.

import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { BLUE, INK, LINE, QUIET } from "../palette.ts";
import type { Player } from "./player.ts";

const CELL = 128;
const HEIGHT = 92;
const PAD = 6;

export class SmallStages {
  readonly element: HTMLElement;
  private readonly sheet: Sheet;
  private drawn: (() => void) | null = null;

  constructor(private readonly player: Player, choose: (station: number) => void) {
    const count = player.opened.stations.length;
    const lines = (width: number) => Math.ceil(count / this.columns(width));
    this.sheet = new Sheet(`${count} devices, small`, (width) => lines(width) * HEIGHT, () => this.drawn?.());
    this.sheet.canvas.addEventListener("click", (event) => {
      const station = Math.floor(event.offsetY / HEIGHT) * this.columns(this.sheet.width) + Math.floor(event.offsetX / this.cell);
      if (station < count) choose(station);
    });
    this.element = el("section", { class: "card wide", "aria-label": "All devices" }, [this.sheet.canvas]);
  }

  show(t: number, chosen: number): void {
    this.drawn = () => this.draw(t, chosen);
    this.drawn();
  }

  private columns(width: number): number {
    return Math.max(1, Math.min(this.player.opened.stations.length, Math.floor(width / CELL)));
  }

  private get cell(): number {
    return this.sheet.width / this.columns(this.sheet.width);
  }

  private draw(t: number, chosen: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const columns = this.columns(this.sheet.width);
    this.player.opened.stations.forEach((_, station) => {
      pen.save();
      pen.translate((station % columns) * this.cell, Math.floor(station / columns) * HEIGHT);
      this.one(pen, station, t, station === chosen);
      pen.restore();
    });
  }

  private one(pen: CanvasRenderingContext2D, station: number, t: number, chosen: boolean): void {
    const { window, paths } = this.player.loaded;
    const { columns, rows, sled, name } = this.player.opened.stations[station]!;
    const [width, height] = [this.cell - 2 * PAD, HEIGHT - 24];
    const { column, row } = window.watched.accesses;
    const waiting = window.waiting(t, station);
    pen.fillStyle = "#eef1f5";
    pen.fillRect(PAD, 2, width, height);
    pen.strokeStyle = chosen ? BLUE : LINE;
    pen.lineWidth = chosen ? 3 : 1;
    pen.strokeRect(PAD, 2, width, height);
    pen.fillStyle = INK;
    for (const each of waiting) pen.fillRect(PAD + (column[each]! / columns) * width - 1.5, 2 + height - ((row[each]! + 0.5) / rows) * height - 1.5, 3, 3);
    const place = paths[station]!.place(t);
    const x = sled ? (place.x - sled.x_bits[0]) / (sled.x_bits[1] - sled.x_bits[0]) : place.x / columns;
    const y = sled ? (place.y - sled.y_bits[0]) / (sled.y_bits[1] - sled.y_bits[0]) : 0.5;
    pen.fillStyle = BLUE;
    pen.fillRect(PAD + x * width - 1.5, 2 + height - y * height - 7, 3, 14);
    pen.fillRect(PAD + x * width - 7, 2 + height - y * height - 1.5, 14, 3);
    pen.fillStyle = QUIET;
    pen.fillText(`${station + 1} ${name}: ${waiting.length}`, PAD, HEIGHT - 9, width);
  }
}
