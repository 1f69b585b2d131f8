// The times of one request: the queue, then x with settling next to y with turnarounds, then the transfer.

import type { Rows, WindowData } from "../../core/types.ts";
import { Sheet } from "../canvas.ts";
import { el, fill, setAttribute } from "../dom.ts";
import { formatBytes, formatDuration } from "../format.ts";
import { INK, PAPER, PART_COLORS, QUIET, adaptiveColor, themed } from "../palette.ts";

/** Columns that requests of the host and accesses of stations have in common. */
const COMMON_COLUMNS = [
  "id", "op", "blocks", "start_ns", "overhead_ns", "seek_x_ns", "settle_ns", "seek_y_ns", "turnaround_ns", "rotation_ns", "transfer_ns", "startup_ns",
] as const;

/** A request of the host, or an access of a station, and its times. */
export interface RequestTimeline extends Readonly<Record<(typeof COMMON_COLUMNS)[number], number>> {
  /** Arrival, and completion: Infinity where it lies outside of the window. */
  readonly arrival_ns: number;
  readonly end_ns: number;
}

/** The timeline of an access of a window. */
export function accessTimeline(accesses: WindowData["accesses"], row: number): RequestTimeline {
  return toTimeline(accesses, row, accesses.queued_ns[row]!, accesses.end_ns[row]!);
}

/** The timeline of a request of the host. Its service is that of its last access. */
export function requestTimeline(rows: Rows, row: number): RequestTimeline {
  return toTimeline(rows, row, rows.arrival_ns[row]!, rows.completion_ns[row]!);
}

function toTimeline(columns: Pick<WindowData["accesses"] | Rows, (typeof COMMON_COLUMNS)[number]>, row: number, arrival_ns: number, end_ns: number): RequestTimeline {
  const common = Object.fromEntries(COMMON_COLUMNS.map((name) => [name, columns[name][row]!])) as Record<(typeof COMMON_COLUMNS)[number], number>;
  return { ...common, arrival_ns, end_ns };
}

const BLOCK_BYTES = 512;

/** An operation in words, such as `read 8 KB`; `op` is 82 for a read, 87 for a write. */
export function describeOperation(op: number, blocks: number): string {
  return `${op === 87 ? "write" : "read"} ${formatBytes(blocks * BLOCK_BYTES)}`;
}

/** A part of a timeline, from one instant to another. Lane 1 is x, lane 2 is y, lane 0 is both. */
export interface Part {
  readonly name: string;
  readonly lane: 0 | 1 | 2;
  readonly from_ns: number;
  readonly to_ns: number;
}

/** The positioning time of a request, in ns. */
export function positioningTime(timeline: RequestTimeline): number {
  return Math.max(timeline.seek_x_ns + timeline.settle_ns, timeline.seek_y_ns + timeline.turnaround_ns) + timeline.rotation_ns;
}

/** The parts of a timeline, in ns from the arrival. A start-up is drawn at the end of the time in the queue, wherever it lies in it. */
export function timelineParts(timeline: RequestTimeline): Part[] {
  const begin_ns = timeline.start_ns - timeline.arrival_ns;
  const parts: Part[] = [];
  const add = (name: string, lane: Part["lane"], from_ns: number, length_ns: number) => {
    if (length_ns > 0) parts.push({ name, lane, from_ns, to_ns: from_ns + length_ns });
    return from_ns + Math.max(0, length_ns);
  };
  if (!Number.isFinite(begin_ns)) return [];
  add("queue", 0, 0, begin_ns - timeline.startup_ns);
  add("startup", 0, begin_ns - timeline.startup_ns, timeline.startup_ns);
  const ready_ns = add("overhead", 0, begin_ns, timeline.overhead_ns);
  // A disk's rotation is waited for after the arm has reached the cylinder.
  const xEnd_ns = add("rotation", 1, add("settle", 1, add("x", 1, ready_ns, timeline.seek_x_ns), timeline.settle_ns), timeline.rotation_ns);
  const yEnd_ns = add("turnaround", 2, add("y", 2, ready_ns, timeline.seek_y_ns), timeline.turnaround_ns);
  add("transfer", 0, Math.max(xEnd_ns, yEnd_ns), timeline.transfer_ns);
  return parts;
}

/** The end of the queueing time and of all parts, and whether the queue is drawn shortened: it must not squeeze the parts after it. */
export function queueExtent(parts: readonly Part[]): { begin_ns: number; end_ns: number; isShortened: boolean } {
  const begin_ns = parts.find(({ name }) => name !== "queue")?.from_ns ?? 0;
  const end_ns = parts.at(-1)?.to_ns ?? 1;
  return { begin_ns, end_ns, isShortened: begin_ns > (end_ns - begin_ns) / 2 };
}

const PART_NAMES: Readonly<Record<string, string>> = {
  queue: "in the queue", startup: "start-up", overhead: "overhead", x: "x", settle: "settling", y: "y", turnaround: "turnaround", rotation: "rotation",
  transfer: "transfer",
};

const HEIGHT = 50;
const NO_REQUEST = "No request has been served yet.";

export class TimelinePanel {
  readonly element: HTMLElement;
  private readonly title = el("span", { class: "quiet" });
  private readonly sheet: Sheet;
  private readonly legend = el("p", { class: "legend" }, [NO_REQUEST]);
  private isSled = true;
  private current: { timeline: RequestTimeline; name: string; isOfHost: boolean } | null = null;

  constructor() {
    this.sheet = new Sheet(NO_REQUEST, () => HEIGHT, () => this.draw(NaN), "life");
    this.element = el("section", { class: "card", "aria-labelledby": "life-title" }, [
      el("h2", { id: "life-title" }, ["One request", this.title]), this.sheet.canvas, this.legend,
    ]);
    setAttribute(this.element, "data-tour", "life");
  }

  /**
   * Shows a timeline, whose name is `noun` and its number; `isSled` tells whether the device moves in x and y at once, or has an arm.
   * A `request ` of the host may have several accesses: before the last one, a disk may have fetched data for it.
   */
  show(timeline: RequestTimeline | null, noun: "" | "request " | "access ", t: number, isSled: boolean): void {
    const { current } = this;
    const name = timeline && `${noun}#${timeline.id}`;
    this.isSled = isSled;
    this.current = timeline && name ? { timeline, name, isOfHost: noun === "request " } : null;
    const hasChanged = current?.name !== this.current?.name || current?.timeline.arrival_ns !== timeline?.arrival_ns || current?.timeline.end_ns !== timeline?.end_ns;
    if (hasChanged) this.describe();
    this.draw(t);
  }

  private describe(): void {
    if (!this.current) {
      fill(this.title);
      fill(this.legend, NO_REQUEST);
      this.sheet.setLabel(NO_REQUEST);
      return;
    }
    const { timeline: { op, blocks, arrival_ns, end_ns }, name } = this.current;
    const parts = timelineParts(this.current.timeline);
    fill(this.title, `${name}, ${describeOperation(op, blocks)}, ${formatDuration(end_ns - arrival_ns)} in all`);
    const { isShortened } = queueExtent(parts);
    fill(this.legend, ...parts.map((part) => el("span", {}, [
      swatch(PART_COLORS[part.name]!), `${this.describePart(part)}${isShortened && part.name === "queue" ? ", drawn shortened" : ""}`,
    ])));
    if (parts.length === 0) fill(this.legend, "Completed without an access to a device.");
    this.sheet.setLabel(`${name}: ${parts.map((part) => this.describePart(part)).join(", ")}`);
  }

  private describePart({ name, from_ns, to_ns }: Part): string {
    const words = name === "queue" && this.current?.isOfHost ? "before its last access" : name === "x" && !this.isSled ? "seek" : PART_NAMES[name];
    return `${words} ${formatDuration(to_ns - from_ns)}`;
  }

  private draw(t: number): void {
    const pen = this.sheet.begin();
    if (!pen || !this.current) return;
    const { timeline: { arrival_ns } } = this.current;
    const parts = timelineParts(this.current.timeline);
    const { begin_ns, end_ns, isShortened } = queueExtent(parts);
    const [left, width] = [14, this.sheet.width - 14];
    const queueWidth = isShortened ? width / 3 : (begin_ns / end_ns) * width;
    const canvasX = (time_ns: number) => left + (time_ns <= begin_ns ? (begin_ns ? (time_ns / begin_ns) * queueWidth : 0) : queueWidth + ((time_ns - begin_ns) / (end_ns - begin_ns)) * (width - queueWidth));
    pen.fillStyle = QUIET;
    if (this.isSled) {
      pen.fillText("x", 0, 13);
      pen.fillText("y", 0, 37);
    }
    for (const { name, lane, from_ns, to_ns } of parts) {
      pen.fillStyle = themed(PART_COLORS[name]!);
      const [top, height] = lane === 0 ? [3, 44] : lane === 1 ? [3, 20] : [27, 20];
      pen.fillRect(canvasX(from_ns), top, Math.max(1, canvasX(to_ns) - canvasX(from_ns) - 1), height);
    }
    if (isShortened) drawBreak(pen, left + queueWidth / 2);
    const presentX = canvasX(t - arrival_ns);
    if (presentX >= left && presentX <= left + width) {
      pen.strokeStyle = INK;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(presentX, 0);
      pen.lineTo(presentX, HEIGHT);
      pen.stroke();
    }
  }
}

/** Draws two slanted gaps over a bar that is shorter than its time. */
function drawBreak(pen: CanvasRenderingContext2D, middle: number): void {
  pen.strokeStyle = PAPER;
  pen.lineWidth = 3;
  for (const x of [middle - 4, middle + 4]) {
    pen.beginPath();
    pen.moveTo(x - 5, HEIGHT);
    pen.lineTo(x + 5, 0);
    pen.stroke();
  }
}

/** A spot of a color, for legends. */
export function swatch(color: string): HTMLElement {
  const spot = el("i", { class: "swatch", "aria-hidden": "true" });
  spot.style.background = color;
  spot.style.background = adaptiveColor(color);
  return spot;
}
