// The times of one request: the queue, then x with settling next to y with turnarounds, then the transfer.

import type { Rows, Watched } from "../../core/types.ts";
import { Sheet } from "../canvas.ts";
import { el, fill, set } from "../dom.ts";
import { bytes, span } from "../format.ts";
import { INK, LINE, PARTS, QUIET } from "../palette.ts";

/** Columns that requests of the host and accesses of stations have in common. */
const COMMON = [
  "id", "op", "blocks", "start_ns", "overhead_ns", "seek_x_ns", "settle_ns", "seek_y_ns", "turnaround_ns", "rotation_ns", "transfer_ns", "startup_ns",
] as const;

/** A request of the host, or an access of a station, and its times. */
export interface Life extends Readonly<Record<(typeof COMMON)[number], number>> {
  /** Arrival, and completion: Infinity where it lies outside of the window. */
  readonly arrival_ns: number;
  readonly end_ns: number;
}

/** The life of an access of a window. */
export function accessLife(accesses: Watched["accesses"], row: number): Life {
  return life(accesses, row, accesses.queued_ns[row]!, accesses.end_ns[row]!);
}

/** The life of a request of the host. Its service is that of its last access. */
export function requestLife(rows: Rows, row: number): Life {
  return life(rows, row, rows.arrival_ns[row]!, rows.completion_ns[row]!);
}

function life(columns: Pick<Watched["accesses"] | Rows, (typeof COMMON)[number]>, row: number, arrival_ns: number, end_ns: number): Life {
  const common = Object.fromEntries(COMMON.map((name) => [name, columns[name][row]!])) as Record<(typeof COMMON)[number], number>;
  return { ...common, arrival_ns, end_ns };
}

const BLOCK_BYTES = 512;

/** An operation in words, such as `read 8 KB`; `op` is 82 for a read, 87 for a write. */
export function operation(op: number, blocks: number): string {
  return `${op === 87 ? "write" : "read"} ${bytes(blocks * BLOCK_BYTES)}`;
}

/** A part of a life, from one instant to another. Lane 1 is x, lane 2 is y, lane 0 is both. */
export interface Part {
  readonly name: string;
  readonly lane: 0 | 1 | 2;
  readonly from: number;
  readonly to: number;
}

/** The positioning time of a life, in ns. */
export function positioning(of: Life): number {
  return Math.max(of.seek_x_ns + of.settle_ns, of.seek_y_ns + of.turnaround_ns) + of.rotation_ns;
}

/** The parts of a life, in ns from the arrival. */
export function parts(of: Life): Part[] {
  const begin = of.start_ns - of.arrival_ns;
  const found: Part[] = [];
  const add = (name: string, lane: Part["lane"], from: number, length: number) => {
    if (length > 0) found.push({ name, lane, from, to: from + length });
    return from + Math.max(0, length);
  };
  if (!Number.isFinite(begin)) return [];
  add("queue", 0, 0, begin - of.startup_ns);
  add("startup", 0, begin - of.startup_ns, of.startup_ns);
  const ready = add("overhead", 0, begin, of.overhead_ns);
  // A disk's rotation is waited for after the arm has reached the cylinder.
  const x = add("rotation", 1, add("settle", 1, add("x", 1, ready, of.seek_x_ns), of.settle_ns), of.rotation_ns);
  const y = add("turnaround", 2, add("y", 2, ready, of.seek_y_ns), of.turnaround_ns);
  add("transfer", 0, Math.max(x, y), of.transfer_ns);
  return found;
}

const NAMES: Readonly<Record<string, string>> = {
  queue: "in the queue", startup: "start-up", overhead: "overhead", x: "x", settle: "settling", y: "y", turnaround: "turnaround", rotation: "rotation",
  transfer: "transfer",
};

const HEIGHT = 50;
const NONE = "No request has been served yet.";

export class LifePanel {
  readonly element: HTMLElement;
  private readonly title = el("span", { class: "quiet" });
  private readonly sheet: Sheet;
  private readonly words = el("p", { class: "legend" }, [NONE]);
  private sled = true;
  private drawn: { life: Life; name: string } | null = null;

  constructor() {
    this.sheet = new Sheet(NONE, () => HEIGHT, () => this.draw(NaN), "life");
    this.element = el("section", { class: "card", "aria-labelledby": "life-title" }, [
      el("h2", { id: "life-title" }, ["One request", this.title]), this.sheet.canvas, this.words,
    ]);
    set(this.element, "data-tour", "life");
  }

  /** Shows a life, whose name is `noun` and its number; `sled` tells whether the device moves in x and y at once, or has an arm. */
  show(shown: Life | null, noun: string, t: number, sled: boolean): void {
    const { drawn } = this;
    const name = shown && `${noun}#${shown.id}`;
    this.sled = sled;
    this.drawn = shown && name ? { life: shown, name } : null;
    const changed = drawn?.name !== this.drawn?.name || drawn?.life.arrival_ns !== shown?.arrival_ns || drawn?.life.end_ns !== shown?.end_ns;
    if (changed) this.describe();
    this.draw(t);
  }

  private describe(): void {
    if (!this.drawn) {
      fill(this.title);
      fill(this.words, NONE);
      this.sheet.label(NONE);
      return;
    }
    const { life: { op, blocks, arrival_ns, end_ns }, name } = this.drawn;
    const found = parts(this.drawn.life);
    fill(this.title, `${name}, ${operation(op, blocks)}, ${span(end_ns - arrival_ns)} in all`);
    fill(this.words, ...found.map((part) => el("span", {}, [dot(PARTS[part.name]!), this.spoken(part)])));
    if (found.length === 0) fill(this.words, "Completed without an access to a device.");
    this.sheet.label(`${name}: ${found.map((part) => this.spoken(part)).join(", ")}`);
  }

  private spoken({ name, from, to }: Part): string {
    return `${name === "x" && !this.sled ? "seek" : NAMES[name]} ${span(to - from)}`;
  }

  private draw(t: number): void {
    const pen = this.sheet.begin();
    if (!pen || !this.drawn) return;
    const { life: { arrival_ns } } = this.drawn;
    const found = parts(this.drawn.life);
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
    const now = place(t - arrival_ns);
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
