// The slots of a cache or of the front of a hybrid: each one's state, the number in each state, and write-behind.

import { SLOTS, type Residency } from "../../core/types.ts";
import { Sheet } from "../canvas.ts";
import { el, fill } from "../dom.ts";
import { bytes, clock, counted } from "../format.ts";
import { BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION } from "../palette.ts";
import { lane } from "./lanes.ts";
import { dot } from "./life.ts";
import { squares, type Resident, type Squares } from "./residency.ts";
import type { Window } from "./window.ts";

const BLOCK_BYTES = 512;
const COLOURS: readonly string[] = ["#dfe4ea", SKY, VERMILION, GREEN, PURPLE];
/** The same colours as words of image data on little-endian machines. */
const WORDS: readonly number[] = COLOURS.map((colour) => {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return ((255 << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0;
});
const MAP_HEIGHT = 150;
const STRIP = 30;
const GAP = 10;
/** Columns of pixels in a strip. */
const STEPS = 240;

/** A layer of a strip, stacked from below. */
interface Layer {
  readonly colour: string;
  readonly value: (look: number) => number;
}

export class SlotsPanel {
  readonly element: HTMLElement;
  private readonly sheet: Sheet;
  private readonly picture = document.createElement("canvas");
  private readonly numbers: readonly HTMLElement[];
  private readonly behind = el("p", { class: "legend" });
  private readonly noun: string;
  private pictured = "";
  private drawn: (() => void) | null = null;

  /** `index` is the residency's place among those of a window; `stations` is the number of lanes. */
  constructor(private readonly index: number, private readonly residency: Residency, private readonly stations: number) {
    const { unit, slot_blocks, station, has_places } = residency;
    this.noun = station === null ? "Cache" : has_places ? "Front device" : "Memory between the devices";
    const title = `slots-${index}`;
    this.numbers = SLOTS.map(() => el("b"));
    this.sheet = new Sheet(`${this.noun}: slots`, (width) => this.map(width).rows * this.map(width).side + 2 * (GAP + STRIP), () => this.drawn?.());
    this.element = el("section", { class: "card wide slots", "aria-labelledby": title }, [
      el("h2", { id: title }, [
        this.noun, el("span", { class: "quiet" }, [`${counted(residency.first.length, "slot")}, a ${unit} of ${bytes(slot_blocks * BLOCK_BYTES)} each`]),
        el("span", { class: "legend" }, SLOTS.map((state, at) => el("span", {}, [dot(COLOURS[at]!), state, this.numbers[at]!]))),
      ]),
      this.sheet.canvas, this.behind,
    ]);
  }

  /** Shows an instant, and `half_ns` before and after it in the strips; `still` where the text for screen readers is to follow. */
  show(window: Window, t: number, half_ns: number, still: boolean): void {
    const resident = window.residents[this.index];
    if (!resident) return;
    const look = resident.look(t);
    const counts = resident.counts(look);
    counts.forEach((count, at) => (this.numbers[at]!.textContent = count.toLocaleString("en")));
    const [waiting, writing] = [resident.residency.waiting[look]!, resident.residency.writing[look]!];
    const order = this.residency.has_places ? "Squares are slots in order of their places" : `Squares are ${this.residency.unit}s in order of their blocks, free ones last`;
    const behind = `Write-behind: ${writing === 0 ? "nothing is" : `${counted(writing, "write")} ${writing === 1 ? "is" : "are"}`} in flight to the backing device, ${waiting.toLocaleString("en")} ready. ${order}; the strips show slots that were dirty, filling and destaging around this time, and writes in flight and ready.`;
    if (this.behind.textContent !== behind) fill(this.behind, behind);
    if (still) this.sheet.label(`${this.noun} at ${clock(t)}: ${counts.map((count, at) => `${count} ${SLOTS[at]}`).join(", ")}`);
    this.drawn = () => this.draw(resident, `${window.from} ${look}`, look, t, half_ns);
    this.drawn();
  }

  /** The first station of the hybrid; null for a cache in front of all stations. */
  get station(): number | null {
    return this.residency.station;
  }

  private map(width: number): Squares {
    return squares(this.residency.first.length, width, MAP_HEIGHT);
  }

  private draw(resident: Resident, key: string, look: number, t: number, half_ns: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const { columns, rows, side } = this.map(this.sheet.width);
    if (this.pictured !== `${key} ${columns}`) this.paint(resident.slots(look));
    this.pictured = `${key} ${columns}`;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, 0, columns * side, rows * side);
    if (side > 5) grid(pen, columns, rows, side);
    const count = (state: number): Layer => ({ colour: COLOURS[state]!, value: (at) => resident.residency.counts[at * SLOTS.length + state]! });
    const { waiting, writing } = resident.residency;
    const top = rows * side + GAP;
    this.strip(pen, resident, top, t, half_ns, "dirty, moving", [4, 3, 2].map(count));
    this.strip(pen, resident, top + STRIP + GAP, t, half_ns, "write-behind", [
      { colour: BLUE, value: (at) => writing[at]! }, { colour: ORANGE, value: (at) => waiting[at]! },
    ]);
  }

  /** Paints the states of slots, one pixel for each square. */
  private paint(states: Uint8Array): void {
    const { columns, rows, each } = this.map(this.sheet.width);
    [this.picture.width, this.picture.height] = [columns, rows];
    const pen = this.picture.getContext("2d")!;
    const image = pen.createImageData(columns, rows);
    const words = new Uint32Array(image.data.buffer);
    for (let square = 0; square * each < states.length; square++) {
      let shown = states[square * each]!;
      for (let slot = square * each + 1; slot < Math.min(states.length, (square + 1) * each); slot++) {
        // A square shows one of its slots: one that is filling or destaging rather than a dirty one, and that rather than a clean or free one.
        if (states[slot]! > shown) shown = states[slot]!;
      }
      words[square] = WORDS[shown]!;
    }
    pen.putImageData(image, 0, 0);
  }

  /** Draws a strip of counts around the present, which is in the middle; layers are stacked. */
  private strip(pen: CanvasRenderingContext2D, resident: Resident, top: number, t: number, half_ns: number, name: string, layers: readonly Layer[]): void {
    const { left, width } = lane(this.stations, this.sheet.width);
    const begin = resident.residency.since_ns[0]!;
    const looks = Array.from({ length: STEPS }, (_, step) => t + ((step + 0.5) / STEPS - 0.5) * 2 * half_ns).map((at) => (at < begin ? null : resident.look(at)));
    const most = looks.reduce<number>((max, look) => (look === null ? max : Math.max(max, layers.reduce((sum, { value }) => sum + value(look), 0))), 1);
    pen.fillStyle = "#f4f6f9";
    pen.fillRect(left, top, width, STRIP);
    looks.forEach((look, step) => {
      let from = top + STRIP;
      for (const { colour, value } of look === null ? [] : layers) {
        const height = (value(look!) / most) * STRIP;
        from -= height;
        pen.fillStyle = colour;
        pen.fillRect(left + (step / STEPS) * width, from, width / STEPS + 0.5, height);
      }
    });
    pen.fillStyle = INK;
    pen.fillRect(left + width / 2 - 1, top - 2, 2, STRIP + 4);
    const words = [name, `up to ${most.toLocaleString("en")}`];
    pen.fillStyle = "#ffffffd0";
    pen.fillRect(0, top, Math.max(...words.map((each) => pen.measureText(each).width)) + 6, STRIP);
    pen.fillStyle = INK;
    words.forEach((each, line) => pen.fillText(each, 0, top + 8 + line * 15));
  }
}

function grid(pen: CanvasRenderingContext2D, columns: number, rows: number, side: number): void {
  pen.strokeStyle = "#ffffff";
  pen.beginPath();
  for (let column = 0; column <= columns; column++) {
    pen.moveTo(column * side, 0);
    pen.lineTo(column * side, rows * side);
  }
  for (let row = 0; row <= rows; row++) {
    pen.moveTo(0, row * side);
    pen.lineTo(columns * side, row * side);
  }
  pen.stroke();
}
