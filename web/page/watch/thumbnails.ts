// All stations of a system side by side, small: the position of each mechanism and its number of waiting requests.

import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { BLUE, INK, LINE, QUIET, SURFACE } from "../palette.ts";
import type { Player } from "./player.ts";

const CELL_WIDTH = 128;
const HEIGHT = 92;
const PADDING = 6;

export class StageThumbnails {
  readonly element: HTMLElement;
  private readonly sheet: Sheet;
  private redraw: (() => void) | null = null;

  constructor(private readonly player: Player, choose: (station: number) => void) {
    const count = player.description.stations.length;
    const lineCount = (width: number) => Math.ceil(count / this.columns(width));
    this.sheet = new Sheet(`${count} devices, small`, (width) => lineCount(width) * HEIGHT, () => this.redraw?.());
    this.sheet.canvas.addEventListener("click", (event) => {
      const station = Math.floor(event.offsetY / HEIGHT) * this.columns(this.sheet.width) + Math.floor(event.offsetX / this.cellWidth);
      if (station < count) choose(station);
    });
    this.element = el("section", { class: "card wide", "aria-label": "All devices" }, [this.sheet.canvas]);
  }

  show(t: number, chosenStation: number): void {
    this.redraw = () => this.draw(t, chosenStation);
    this.redraw();
  }

  private columns(width: number): number {
    return Math.max(1, Math.min(this.player.description.stations.length, Math.floor(width / CELL_WIDTH)));
  }

  private get cellWidth(): number {
    return this.sheet.width / this.columns(this.sheet.width);
  }

  private draw(t: number, chosenStation: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const columns = this.columns(this.sheet.width);
    this.player.description.stations.forEach((_, station) => {
      pen.save();
      pen.translate((station % columns) * this.cellWidth, Math.floor(station / columns) * HEIGHT);
      this.drawStation(pen, station, t, station === chosenStation);
      pen.restore();
    });
  }

  private drawStation(pen: CanvasRenderingContext2D, station: number, t: number, isChosen: boolean): void {
    const { window, paths } = this.player.loadedWindow;
    const { columns, rows, sled, name } = this.player.description.stations[station]!;
    const [width, height] = [this.cellWidth - 2 * PADDING, HEIGHT - 24];
    const { column, row } = window.data.accesses;
    const waiting = window.waitingRows(t, station);
    pen.fillStyle = SURFACE;
    pen.fillRect(PADDING, 2, width, height);
    pen.strokeStyle = isChosen ? BLUE : LINE;
    pen.lineWidth = isChosen ? 3 : 1;
    pen.strokeRect(PADDING, 2, width, height);
    pen.fillStyle = INK;
    for (const waitingRow of waiting) pen.fillRect(PADDING + (column[waitingRow]! / columns) * width - 1.5, 2 + height - ((row[waitingRow]! + 0.5) / rows) * height - 1.5, 3, 3);
    const position = paths[station]!.position(t);
    const x = sled ? (position.x - sled.x_bits[0]) / (sled.x_bits[1] - sled.x_bits[0]) : position.x / columns;
    const y = sled ? (position.y - sled.y_bits[0]) / (sled.y_bits[1] - sled.y_bits[0]) : 0.5;
    pen.fillStyle = BLUE;
    pen.fillRect(PADDING + x * width - 1.5, 2 + height - y * height - 7, 3, 14);
    pen.fillRect(PADDING + x * width - 7, 2 + height - y * height - 1.5, 14, 3);
    pen.fillStyle = QUIET;
    pen.fillText(`${station + 1} ${name}: ${waiting.length}`, PADDING, HEIGHT - 9, width);
  }
}
