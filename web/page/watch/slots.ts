// The slots of a cache or of the front of a hybrid: each one's state, the number in each state, and write-behind.

import { SLOT_STATES, type Residency } from "../../core/types.ts";
import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { el, fill } from "../dom.ts";
import { formatBytes, formatTime, formatCount } from "../format.ts";
import { BLUE, GREEN, INK, ORANGE, PAPER, PURPLE, SKY, STATES, SURFACE, VERMILION, themed } from "../palette.ts";
import { laneBounds } from "./lanes.ts";
import { swatch } from "./timeline.ts";
import { squareLayout, type ResidencySamples, type SquareLayout } from "./residency.ts";
import type { Window } from "./window.ts";

const BLOCK_BYTES = 512;
/** Colors of the states of slots; free ones are gray. */
const COLORS = [STATES["inactive"]!, SKY, VERMILION, GREEN, PURPLE];
const MAP_HEIGHT = 150;
const STRIP_HEIGHT = 30;
const GAP = 10;
/** Columns of pixels in a strip. */
const STRIP_COLUMNS = 240;

/** A layer of a strip, stacked from below. */
interface Layer {
  readonly color: string;
  readonly value: (sample: number) => number;
}

export class SlotsPanel {
  readonly element: HTMLElement;
  private readonly sheet: Sheet;
  private readonly picture = document.createElement("canvas");
  private readonly countLabels: readonly HTMLElement[];
  private readonly caption = el("p", { class: "legend" });
  private readonly title: string;
  private paintedKey = "";
  private redraw: (() => void) | null = null;

  /** `index` is the residency's place among those of a window; `stations` is the number of lanes. */
  constructor(private readonly index: number, private readonly residency: Residency, private readonly stations: number) {
    const { unit, slot_blocks, station, has_places } = residency;
    this.title = station === null ? "Cache" : has_places ? "Front device" : "Memory between the devices";
    const title = `slots-${index}`;
    this.countLabels = SLOT_STATES.map(() => el("b"));
    this.sheet = new Sheet(`${this.title}: slots`, (width) => this.layout(width).rows * this.layout(width).side + 2 * (GAP + STRIP_HEIGHT), () => this.redraw?.());
    this.element = el("section", { class: "card wide slots", "aria-labelledby": title }, [
      el("h2", { id: title }, [
        this.title, el("span", { class: "quiet" }, [`${formatCount(residency.first.length, "slot")}, a ${unit} of ${formatBytes(slot_blocks * BLOCK_BYTES)} each`]),
        el("span", { class: "legend" }, SLOT_STATES.map((state, at) => el("span", {}, [swatch(COLORS[at]!), state, this.countLabels[at]!]))),
      ]),
      this.sheet.canvas, this.caption,
    ]);
    addSaveMenu(this.element, this.title, [this.sheet]);
  }

  /** Shows an instant, and `half_ns` before and after it in the strips; `still` where the text for screen readers is to follow. */
  show(window: Window, t: number, half_ns: number, still: boolean): void {
    const resident = window.residencies[this.index];
    if (!resident) return;
    const sample = resident.sampleIndex(t);
    const counts = resident.counts(sample);
    counts.forEach((count, at) => (this.countLabels[at]!.textContent = count.toLocaleString("en")));
    const [waiting, writing] = [resident.residency.waiting[sample]!, resident.residency.writing[sample]!];
    const order = this.residency.has_places ? "Squares are slots in order of their places" : `Squares are ${this.residency.unit}s in order of their blocks, free ones last`;
    const caption = `Write-behind: ${writing === 0 ? "nothing is" : `${formatCount(writing, "write")} ${writing === 1 ? "is" : "are"}`} in flight to the backing device, ${waiting.toLocaleString("en")} ready. ${order}; the strips show slots that were dirty, filling and destaging around this time, and writes in flight and ready.`;
    if (this.caption.textContent !== caption) fill(this.caption, caption);
    if (still) this.sheet.setLabel(`${this.title} at ${formatTime(t)}: ${counts.map((count, at) => `${count} ${SLOT_STATES[at]}`).join(", ")}`);
    this.redraw = () => this.draw(resident, `${window.from} ${sample}`, sample, t, half_ns);
    this.redraw();
  }

  /** The first station of the hybrid; null for a cache in front of all stations. */
  get station(): number | null {
    return this.residency.station;
  }

  private layout(width: number): SquareLayout {
    return squareLayout(this.residency.first.length, width, MAP_HEIGHT);
  }

  private draw(resident: ResidencySamples, key: string, sample: number, t: number, half_ns: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const { columns, rows, side } = this.layout(this.sheet.width);
    const painted = `${key} ${columns} ${PAPER}`;
    if (this.paintedKey !== painted) this.paint(resident.slots(sample));
    this.paintedKey = painted;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, 0, columns * side, rows * side);
    if (side > 5) drawGrid(pen, columns, rows, side);
    const count = (state: number): Layer => ({ color: COLORS[state]!, value: (at) => resident.residency.counts[at * SLOT_STATES.length + state]! });
    const { waiting, writing } = resident.residency;
    const top = rows * side + GAP;
    this.drawStrip(pen, resident, top, t, half_ns, "dirty, moving", [4, 3, 2].map(count));
    this.drawStrip(pen, resident, top + STRIP_HEIGHT + GAP, t, half_ns, "write-behind", [
      { color: BLUE, value: (at) => writing[at]! }, { color: ORANGE, value: (at) => waiting[at]! },
    ]);
  }

  /** Paints the states of slots, one pixel for each square. */
  private paint(states: Uint8Array): void {
    const { columns, rows, slotsPerSquare } = this.layout(this.sheet.width);
    [this.picture.width, this.picture.height] = [columns, rows];
    const pen = this.picture.getContext("2d")!;
    const image = pen.createImageData(columns, rows);
    const words = new Uint32Array(image.data.buffer);
    const pixels = COLORS.map((color) => pixelWord(themed(color)));
    for (let square = 0; square * slotsPerSquare < states.length; square++) {
      let shown = states[square * slotsPerSquare]!;
      for (let slot = square * slotsPerSquare + 1; slot < Math.min(states.length, (square + 1) * slotsPerSquare); slot++) {
        // A square shows one of its slots: one that is filling or destaging rather than a dirty one, and that rather than a clean or free one.
        if (states[slot]! > shown) shown = states[slot]!;
      }
      words[square] = pixels[shown]!;
    }
    pen.putImageData(image, 0, 0);
  }

  /** Draws a strip of counts around the present, which is in the middle; layers are stacked. */
  private drawStrip(pen: CanvasRenderingContext2D, resident: ResidencySamples, top: number, t: number, half_ns: number, name: string, layers: readonly Layer[]): void {
    const { left, width } = laneBounds(this.stations, this.sheet.width);
    const begin = resident.residency.since_ns[0]!;
    const samples = Array.from({ length: STRIP_COLUMNS }, (_, step) => t + ((step + 0.5) / STRIP_COLUMNS - 0.5) * 2 * half_ns).map((at) => (at < begin ? null : resident.sampleIndex(at)));
    const most = samples.reduce<number>((max, sample) => (sample === null ? max : Math.max(max, layers.reduce((sum, { value }) => sum + value(sample), 0))), 1);
    pen.fillStyle = SURFACE;
    pen.fillRect(left, top, width, STRIP_HEIGHT);
    samples.forEach((sample, step) => {
      let from = top + STRIP_HEIGHT;
      for (const { color, value } of sample === null ? [] : layers) {
        const height = (value(sample!) / most) * STRIP_HEIGHT;
        from -= height;
        pen.fillStyle = themed(color);
        pen.fillRect(left + (step / STRIP_COLUMNS) * width, from, width / STRIP_COLUMNS + 0.5, height);
      }
    });
    pen.fillStyle = INK;
    pen.fillRect(left + width / 2 - 1, top - 2, 2, STRIP_HEIGHT + 4);
    const words = [name, `up to ${most.toLocaleString("en")}`];
    pen.fillStyle = `${PAPER}d0`;
    pen.fillRect(0, top, Math.max(...words.map((each) => pen.measureText(each).width)) + 6, STRIP_HEIGHT);
    pen.fillStyle = INK;
    words.forEach((each, line) => pen.fillText(each, 0, top + 8 + line * 15));
  }
}

/** Returns the panels of the cache in front of all devices, and of the hybrid that contains a station. */
export function visiblePanels(panels: readonly SlotsPanel[], station: number): readonly SlotsPanel[] {
  const own = panels.filter((each) => each.station !== null && each.station <= station).at(-1);
  return panels.filter((each) => each.station === null || each === own);
}

/** Returns a color as a word of image data on little-endian machines. */
function pixelWord(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return ((255 << 24) | (blue! << 16) | (green! << 8) | red!) >>> 0;
}

function drawGrid(pen: CanvasRenderingContext2D, columns: number, rows: number, side: number): void {
  pen.strokeStyle = PAPER;
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
