// A disk seen from above: the platter turns, waiting requests turn with it, and the arm moves to a cylinder. Other devices: only the requests that wait.

import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { formatTime } from "../format.ts";
import { BLUE, LINE, MARK_FILL, MARK_OUTLINE, ORANGE, PAPER, QUIET, SURFACE, VERMILION } from "../palette.ts";
import type { Player } from "./player.ts";
import { SPEEDS } from "./speed.ts";
import type { Stage } from "./stages.ts";
import type { Choice } from "./window.ts";

const HEIGHT = 380;
const ARM_ANGLE = Math.PI * 0.12;
const MAX_CIRCLES = 3000;
/** Angle of the head around the platter's center, in radians. */
const HEAD_ANGLE = -ARM_ANGLE;
/** Marks on the platter that show its rotation; the first one is the index mark. */
const SPOKES = 12;
/** A platter that makes more than this part of a turn between two frames is drawn at rest: eyes could not follow it. */
const MAX_VISIBLE_TURNS = 1 / 8;
const FRAME_NS = 1e9 / 60;

export class DiskStage implements Stage {
  readonly element: HTMLElement;
  readonly isStale = false;
  private readonly sheet: Sheet;
  private redraw: (() => void) | null = null;

  constructor(private readonly player: Player, private readonly station: number, readonly forStation: (station: number) => Stage) {
    const isDisk = player.description.stations[station]?.kind === "disk";
    this.sheet = new Sheet("The device", () => (isDisk ? HEIGHT : 150), () => this.redraw?.());
    this.element = el("div", {}, [this.sheet.canvas, el("p", { class: "legend" }, [
      isDisk ? "Circles wait where their first sectors are: reads white, writes orange; the ring is chosen, its arc the sectors that it takes on the way under the head. The longest spoke is the index mark. While time runs too fast to follow the platter, it is drawn at rest."
        : "Nothing moves in this device: requests wait for their turn.",
    ])]);
    addSaveMenu(this.element, "Stage", [this.sheet]);
  }

  draw(t: number, waiting: readonly number[], choice: Choice | null, isStill: boolean): void {
    this.redraw = () => this.draw(t, waiting, choice, isStill);
    const pen = this.sheet.begin();
    if (!pen) return;
    if (this.player.description.stations[this.station]?.kind === "disk") this.drawPlatter(pen, t, waiting, choice);
    else this.drawQueue(pen, waiting);
    if (isStill) this.sheet.setLabel(`The device at ${formatTime(t)}: ${waiting.length} requests wait${this.describeAngles(t, choice)}`);
  }

  toggleMap(): void {
    // A disk rotates: a map of its positioning times would hold only for an instant.
  }

  /** The angle of the platter under the head, in turns from the index mark. */
  private turnsUnderHead(t: number): number {
    const turn_ns = this.player.description.stations[this.station]!.turn_ns;
    return turn_ns === null ? 0 : (t / turn_ns) % 1;
  }

  /** The angles in words, for screen readers. */
  private describeAngles(t: number, choice: Choice | null): string {
    if (this.player.description.stations[this.station]?.turn_ns == null) return "";
    const { id, turn } = this.player.loadedWindow.window.data.accesses;
    const chosenRow = choice?.candidates.find((each) => each.isChosen)?.access;
    const sectorText = chosenRow === undefined ? "" : `, the first sector of #${id[chosenRow]} at ${formatDegrees(turn[chosenRow]!)}`;
    return `; under the head are ${formatDegrees(this.turnsUnderHead(t))} of the platter${sectorText}`;
  }

  private drawPlatter(pen: CanvasRenderingContext2D, t: number, waiting: readonly number[], choice: Choice | null): void {
    const { window, paths } = this.player.loadedWindow;
    const { columns, turn_ns } = this.player.description.stations[this.station]!;
    const { column, op, turn, turns, end_ns } = window.data.accesses;
    const middle = { x: this.sheet.width / 2, y: this.sheet.height / 2 };
    const outerRadius = Math.min(middle.x, middle.y) - 12;
    const radius = (cylinder: number) => outerRadius - (cylinder / Math.max(1, columns)) * outerRadius * 0.68;
    const { isPlaying, speedIndex } = this.player;
    const isAtRest = isPlaying && SPEEDS[speedIndex]! * FRAME_NS > MAX_VISIBLE_TURNS * (turn_ns ?? Infinity);
    const drawnTurns = isAtRest ? 0 : this.turnsUnderHead(t);
    const angle = (platterTurns: number) => HEAD_ANGLE + (platterTurns - drawnTurns) * 2 * Math.PI;
    drawCircle(pen, middle, outerRadius, SURFACE, LINE);
    drawSpokes(pen, middle, outerRadius, angle);
    drawCircle(pen, middle, outerRadius * 0.3, PAPER, LINE);
    const spot = (row: number) => polarPoint(middle, radius(column[row]!), angle(turn[row]!));
    const circleRadius = waiting.length > 500 ? 1.5 : 3.5;
    for (const row of waiting.slice(0, MAX_CIRCLES)) drawCircle(pen, spot(row), circleRadius, op[row] === 87 ? ORANGE : MARK_FILL, MARK_OUTLINE);
    const chosenRow = choice?.candidates.find((each) => each.isChosen)?.access;
    if (chosenRow !== undefined && end_ns[chosenRow]! > t) {
      const startAngle = angle(turn[chosenRow]!);
      drawSectors(pen, middle, radius(column[chosenRow]!), startAngle, startAngle + Math.min(1, turns[chosenRow]!) * 2 * Math.PI);
      drawRing(pen, spot(chosenRow));
    }
    drawArm(pen, middle, outerRadius, radius(paths[this.station]!.position(t).x));
  }

  private drawQueue(pen: CanvasRenderingContext2D, waiting: readonly number[]): void {
    const { op } = this.player.loadedWindow.window.data.accesses;
    pen.fillStyle = QUIET;
    pen.fillText(`${waiting.length.toLocaleString("en")} wait, the oldest at the left`, 8, 22);
    const maxCircles = Math.floor((this.sheet.width - 24) / 10) * 8;
    waiting.slice(0, maxCircles).forEach((row, index) => {
      drawCircle(pen, { x: 14 + Math.floor(index / 8) * 10, y: 46 + (index % 8) * 11 }, 3.5, op[row] === 87 ? ORANGE : MARK_FILL, MARK_OUTLINE);
    });
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function formatDegrees(turns: number): string {
  return `${Math.round(turns * 3600) / 10}°`;
}

function polarPoint(middle: Point, radius: number, angle: number): Point {
  return { x: middle.x + Math.cos(angle) * radius, y: middle.y + Math.sin(angle) * radius };
}

/** Marks between the hub and the edge of the platter; the index mark is drawn all the way. */
function drawSpokes(pen: CanvasRenderingContext2D, middle: Point, outerRadius: number, angle: (turns: number) => number): void {
  pen.lineWidth = 1;
  for (let spoke = 0; spoke < SPOKES; spoke++) {
    const [inner, edge] = [polarPoint(middle, outerRadius * (spoke === 0 ? 0.3 : 0.94), angle(spoke / SPOKES)), polarPoint(middle, outerRadius, angle(spoke / SPOKES))];
    pen.strokeStyle = spoke === 0 ? QUIET : LINE;
    pen.beginPath();
    pen.moveTo(inner.x, inner.y);
    pen.lineTo(edge.x, edge.y);
    pen.stroke();
  }
}

/** Draws sectors of a track. */
function drawSectors(pen: CanvasRenderingContext2D, middle: Point, radius: number, startAngle: number, endAngle: number): void {
  pen.beginPath();
  pen.arc(middle.x, middle.y, radius, startAngle, endAngle);
  pen.strokeStyle = VERMILION;
  pen.lineWidth = 4;
  pen.stroke();
}

function drawCircle(pen: CanvasRenderingContext2D, { x, y }: Point, radius: number, fill: string, stroke: string): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = fill;
  pen.fill();
  pen.strokeStyle = stroke;
  pen.lineWidth = 1;
  pen.stroke();
}

function drawRing(pen: CanvasRenderingContext2D, { x, y }: Point): void {
  pen.beginPath();
  pen.arc(x, y, 8, 0, 2 * Math.PI);
  pen.strokeStyle = VERMILION;
  pen.lineWidth = 2.8;
  pen.stroke();
}

/** Draws the arm, from its pivot next to the platter to its head. */
function drawArm(pen: CanvasRenderingContext2D, middle: Point, outerRadius: number, radius: number): void {
  const pivot = polarPoint(middle, outerRadius * 1.12, ARM_ANGLE);
  const head = polarPoint(middle, radius, HEAD_ANGLE);
  pen.strokeStyle = BLUE;
  pen.lineWidth = 5;
  pen.lineCap = "round";
  pen.beginPath();
  pen.moveTo(pivot.x, pivot.y);
  pen.lineTo(head.x, head.y);
  pen.stroke();
  pen.lineCap = "butt";
  drawCircle(pen, pivot, 8, BLUE, MARK_FILL);
  drawCircle(pen, head, 4.5, MARK_FILL, BLUE);
}
