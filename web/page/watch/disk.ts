// A disk seen from above: the arm reaches for a cylinder, what waits lies on its own.

import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { clock } from "../format.ts";
import { BLUE, INK, LINE, ORANGE, QUIET, VERMILION } from "../palette.ts";
import type { Player } from "./player.ts";
import type { Stage } from "./stages.ts";
import type { Choice } from "./window.ts";

const HEIGHT = 380;
const ARM = Math.PI * 0.12;
const CROWD = 3000;

export class DiskStage implements Stage {
  readonly elements: readonly HTMLElement[];
  readonly stale = false;
  private readonly sheet: Sheet;
  private again: (() => void) | null = null;

  constructor(private readonly player: Player, private readonly station: number, readonly other: (station: number) => Stage) {
    const moves = player.opened.stations[station]?.kind === "disk";
    this.sheet = new Sheet("The device", () => (moves ? HEIGHT : 150), () => this.again?.());
    this.elements = [this.sheet.canvas, el("p", { class: "legend" }, [
      moves ? "Circles wait: reads white, writes orange, by cylinder from the outer edge; the ring is chosen. The platter turns too fast to be drawn: where on its track a request waits is drawn from its number."
        : "Nothing moves in this device: requests wait for their turn.",
    ])];
  }

  draw(t: number, waiting: readonly number[], choice: Choice | null, still: boolean): void {
    this.again = () => this.draw(t, waiting, choice, still);
    const pen = this.sheet.begin();
    if (!pen) return;
    if (this.player.opened.stations[this.station]?.kind === "disk") this.platter(pen, t, waiting, choice);
    else this.row(pen, waiting);
    if (still) this.sheet.label(`The device at ${clock(t)}: ${waiting.length} requests wait`);
  }

  toggleMap(): void {
    // A disk turns: there is no map that would hold for longer than an instant.
  }

  private platter(pen: CanvasRenderingContext2D, t: number, waiting: readonly number[], choice: Choice | null): void {
    const { window, paths } = this.player.loaded;
    const { columns } = this.player.opened.stations[this.station]!;
    const { column, op, lbn, end_ns } = window.watched.accesses;
    const middle = { x: this.sheet.width / 2, y: this.sheet.height / 2 };
    const outer = Math.min(middle.x, middle.y) - 12;
    const radius = (cylinder: number) => outer - (cylinder / Math.max(1, columns)) * outer * 0.68;
    const { x: cylinder } = paths[this.station]!.place(t);
    circle(pen, middle, outer, "#eef1f5", LINE);
    circle(pen, middle, outer * 0.3, "#ffffff", LINE);
    const spot = (row: number) => {
      const at = ((lbn[row]! * 0.6180339887) % 1) * 2 * Math.PI;
      const from = radius(column[row]!);
      return { x: middle.x + Math.cos(at) * from, y: middle.y + Math.sin(at) * from };
    };
    const size = waiting.length > 500 ? 1.5 : 3.5;
    for (const row of waiting.slice(0, CROWD)) circle(pen, spot(row), size, op[row] === 87 ? ORANGE : "#ffffff", INK);
    const taken = choice?.candidates.find((each) => each.chosen);
    if (taken && end_ns[taken.access]! > t) ring(pen, spot(taken.access));
    arm(pen, middle, outer, radius(cylinder));
  }

  private row(pen: CanvasRenderingContext2D, waiting: readonly number[]): void {
    const { op } = this.player.loaded.window.watched.accesses;
    pen.fillStyle = QUIET;
    pen.fillText(`${waiting.length.toLocaleString("en")} wait, the oldest at the left`, 8, 22);
    const most = Math.floor((this.sheet.width - 24) / 10) * 8;
    waiting.slice(0, most).forEach((row, index) => {
      circle(pen, { x: 14 + Math.floor(index / 8) * 10, y: 46 + (index % 8) * 11 }, 3.5, op[row] === 87 ? ORANGE : "#ffffff", INK);
    });
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function circle(pen: CanvasRenderingContext2D, { x, y }: Point, radius: number, fill: string, stroke: string): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  pen.strokeStyle = stroke;
  pen.lineWidth = 1;
  pen.stroke();
}

function ring(pen: CanvasRenderingContext2D, { x, y }: Point): void {
  pen.beginPath();
  pen.arc(x, y, 8, 0, 2 * Math.PI);
  pen.strokeStyle = VERMILION;
  pen.lineWidth = 2.8;
  pen.stroke();
}

/** The arm, from its pivot beside the platter to its head. */
function arm(pen: CanvasRenderingContext2D, middle: Point, outer: number, radius: number): void {
  const pivot = { x: middle.x + Math.cos(ARM) * outer * 1.12, y: middle.y + Math.sin(ARM) * outer * 1.12 };
  const head = { x: middle.x + Math.cos(-ARM) * radius, y: middle.y + Math.sin(-ARM) * radius };
  pen.strokeStyle = BLUE;
  pen.lineWidth = 5;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(pivot.x, pivot.y);
  pen.lineTo(head.x, head.y);
  pen.stroke();
  pen.lineCap = "butt";
  circle(pen, pivot, 8, BLUE, "#ffffff");
  circle(pen, head, 4.5, "#ffffff", BLUE);
}
