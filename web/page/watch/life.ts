// One request's life: its time in the queue, then x with settling beside y with turnarounds, then the transfer of its rows.

import { Sheet } from "../canvas.ts";
import { el, fill, set } from "../dom.ts";
import { span } from "../format.ts";
import { INK, LINE, PARTS, QUIET } from "../palette.ts";
import { request } from "./choice.ts";
import type { Window } from "./window.ts";

/** A part of a life, from one instant to another. Lane 1 is x, lane 2 is y, lane 0 is both. */
export interface Part {
  readonly name: string;
  readonly lane: 0 | 1 | 2;
  readonly from: number;
  readonly to: number;
}

/** The parts of an access, in ns from its arrival. */
export function parts(window: Window, row: number): Part[] {
  const a = window.watched.accesses;
  const begin = a.start_ns[row]! - a.queued_ns[row]!;
  const found: Part[] = [];
  const add = (name: string, lane: Part["lane"], from: number, length: number) => {
    if (length > 0) found.push({ name, lane, from, to: from + length });
    return from + Math.max(0, length);
  };
  if (!Number.isFinite(begin)) return [];
  const startup = a.startup_ns[row]!;
  add("queue", 0, 0, begin - startup);
  add("startup", 0, begin - startup, startup);
  const ready = add("overhead", 0, begin, a.overhead_ns[row]!);
  const turned = a.turnaround_ns[row]!;
  // A disk's rotation is waited for after the arm has reached the cylinder.
  const x = add("rotation", 1, add("settle", 1, add("x", 1, ready, a.seek_x_ns[row]!), a.settle_ns[row]!), a.rotation_ns[row]!);
  const y = add("turnaround", 2, add("y", 2, ready, a.seek_y_ns[row]!), turned);
  add("transfer", 0, Math.max(x, y), a.transfer_ns[row]!);
  return found;
}

const NAMES: Readonly<Record<string, string>> = {
  queue: "in the queue", startup: "start-up", overhead: "overhead", x: "x", settle: "settling", y: "y", turnaround: "turnaround", rotation: "rotation",
  transfer: "transfer",
};

const HEIGHT = 50;

export class LifePanel {
  readonly element: HTMLElement;
  private readonly title = el("span", { class: "quiet" });
  private readonly sheet: Sheet;
  private readonly words = el("p", { class: "legend" });
  private sled = true;
  private drawn: { window: Window; row: number } | null = null;

  constructor() {
    this.sheet = new Sheet("No request yet", () => HEIGHT, () => this.draw(NaN), "life");
    this.element = el("section", { class: "card", "aria-labelledby": "life-title" }, [
      el("h2", { id: "life-title" }, ["One request", this.title]), this.sheet.canvas, this.words,
    ]);
    set(this.element, "data-tour", "life");
  }

  /** Shows the life of an access; `sled` says whether the device moves in x and y at once, or has an arm. */
  show(window: Window, row: number | null, t: number, sled: boolean): void {
    this.sled = sled;
    const anew = row !== null && (this.drawn?.window !== window || this.drawn.row !== row);
    this.drawn = row === null ? this.drawn : { window, row };
    if (anew) this.describe(window, row);
    this.draw(t);
  }

  private describe(window: Window, row: number): void {
    const { id, queued_ns, end_ns } = window.watched.accesses;
    const found = parts(window, row);
    fill(this.title, `#${id[row]}, ${request(window, row)}, ${span(end_ns[row]! - queued_ns[row]!)} in all`);
    fill(this.words, ...found.map((part) => el("span", {}, [dot(PARTS[part.name]!), this.spoken(part)])));
    this.sheet.label(`Request ${id[row]}: ${found.map((part) => this.spoken(part)).join(", ")}`);
  }

  private spoken({ name, from, to }: Part): string {
    return `${name === "x" && !this.sled ? "seek" : NAMES[name]} ${span(to - from)}`;
  }

  private draw(t: number): void {
    const pen = this.sheet.begin();
    if (!pen || !this.drawn) return;
    const { window, row } = this.drawn;
    const found = parts(window, row);
    const { queued_ns } = window.watched.accesses;
    const served = found.filter(({ name }) => name !== "queue");
    const end = found.at(-1)?.to ?? 1;
    const begin = served[0]?.from ?? 0;
    // A long wait must not squeeze the parts after it: the queue takes a third of the width at most.
    const [left, width] = [14, this.sheet.width - 14];
    const wait = begin > (end - begin) / 2 ? width / 3 : (begin / end) * width;
    const place = (at: number) => left + (at <= begin ? (begin ? (at / begin) * wait : 0) : wait + ((at - begin) / (end - begin)) * (width - wait));
    pen.fillStyle = QUIET;
    if (this.sled) {
      pen.fillText("x", 0, 13);
      pen.fillText("y", 0, 37);
    }
    for (const { name, lane, from, to } of found) {
      pen.fillStyle = PARTS[name]!;
      const [top, height] = lane === 0 ? [3, 44] : lane === 1 ? [3, 20] : [27, 20];
      pen.fillRect(place(from), top, Math.max(1, place(to) - place(from) - 1), height);
    }
    pen.strokeStyle = LINE;
    const now = place(t - queued_ns[row]!);
    if (now >= left && now <= left + width) {
      pen.strokeStyle = INK;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(now, 0);
      pen.lineTo(now, HEIGHT);
      pen.stroke();
    }
  }
}

/** A spot of a colour, for legends. */
export function dot(colour: string): HTMLElement {
  const spot = el("i", { class: "swatch", "aria-hidden": "true" });
  spot.style.background = colour;
  return spot;
}
