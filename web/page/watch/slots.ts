// The slots of a cache or of the front of a hybrid: each one's state, the number in each state, and write-behind.

import { SLOT_STATES, type Residency } from "../../core/types.ts";
import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { el, fill } from "../dom.ts";
import { formatBytes, formatTime, formatCount } from "../format.ts";
import { BLUE, FAINT, GREEN, INK, ORANGE, PAPER, PURPLE, SKY, SURFACE, VERMILION, themed } from "../palette.ts";
import { laneBounds } from "./lanes.ts";
import { swatch } from "./timeline.ts";
import { squareLayout, type ResidencySamples, type SquareLayout } from "./residency.ts";
import type { Window } from "./window.ts";

const BLOCK_BYTES = 512;
/** Colors of the states of slots; free ones are gray. */
const COLORS = [FAINT, SKY, VERMILION, GREEN, PURPLE];
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

  /** `index` is the residency's place among those of a window; `stationCount` is the number of lanes. */
  constructor(private readonly index: number, private readonly residency: Residency, private readonly stationCount: number) {
    const { unit, slot_blocks, station, has_places } = residency;
    this.title = station === null ? "Cache" : has_places ? "Front device" : "Memory between the devices";
    const titleId = `slots-${index}`;
    this.countLabels = SLOT_STATES.map(() => el("b"));
    this.sheet = new Sheet(`${this.title}: slots`, (width) => this.layout(width).rows * this.layout(width).side + 2 * (GAP + STRIP_HEIGHT), () => this.redraw?.());
    this.element = el("section", { class: "card wide slots", "aria-labelledby": titleId }, [
      el("h2", { id: titleId }, [
        this.title, el("span", { class: "quiet" }, [`${formatCount(residency.first.length, "slot")}, a ${unit} of ${formatBytes(slot_blocks * BLOCK_BYTES)} each`]),
        el("span", { class: "legend" }, SLOT_STATES.map((state, index) => el("span", {}, [swatch(COLORS[index]!), state, this.countLabels[index]!]))),
      ]),
      this.sheet.canvas, this.caption,
    ]);
    addSaveMenu(this.element, this.title, [this.sheet]);
  }

  /** Shows an instant, and `half_ns` before and after it in the strips; `isStill` if the text for screen readers is updated too. */
  show(window: Window, t: number, half_ns: number, isStill: boolean): void {
    const samples = window.residencies[this.index];
    if (!samples) return;
    const sample = samples.sampleIndex(t);
    const counts = samples.counts(sample);
    counts.forEach((count, state) => (this.countLabels[state]!.textContent = count.toLocaleString("en")));
    const [waiting, writing] = [samples.residency.waiting[sample]!, samples.residency.writing[sample]!];
    const orderText = this.residency.has_places ? "Squares are slots in order of their places" : `Squares are ${this.residency.unit}s in order of their blocks, free ones last`;
    const caption = `Write-behind: ${writing === 0 ? "nothing is" : `${formatCount(writing, "write")} ${writing === 1 ? "is" : "are"}`} in flight to the backing device, ${waiting.toLocaleString("en")} ready. ${orderText}; the strips show slots that were dirty, filling and destaging around this time, and writes in flight and ready.`;
    if (this.caption.textContent !== caption) fill(this.caption, caption);
    if (isStill) this.sheet.setLabel(`${this.title} at ${formatTime(t)}: ${counts.map((count, state) => `${count} ${SLOT_STATES[state]}`).join(", ")}`);
    this.redraw = () => this.draw(samples, `${window.from_ns} ${sample}`, sample, t, half_ns);
    this.redraw();
  }

  /** The first station of the hybrid; null for a cache in front of all stations. */
  get station(): number | null {
    return this.residency.station;
  }

  private layout(width: number): SquareLayout {
    return squareLayout(this.residency.first.length, width, MAP_HEIGHT);
  }

  private draw(samples: ResidencySamples, key: string, sample: number, t: number, half_ns: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const { columns, rows, side } = this.layout(this.sheet.width);
    const newKey = `${key} ${columns} ${PAPER}`;
    if (this.paintedKey !== newKey) this.paint(samples.slots(sample));
    this.paintedKey = newKey;
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, 0, 0, columns * side, rows * side);
    if (side > 5) drawGrid(pen, columns, rows, side);
    const countLayer = (state: number): Layer => ({ color: COLORS[state]!, value: (index) => samples.residency.counts[index * SLOT_STATES.length + state]! });
    const { waiting, writing } = samples.residency;
    const top = rows * side + GAP;
    this.drawStrip(pen, samples, top, t, half_ns, "dirty, moving", [4, 3, 2].map(countLayer));
    this.drawStrip(pen, samples, top + STRIP_HEIGHT + GAP, t, half_ns, "write-behind", [
      { color: BLUE, value: (index) => writing[index]! }, { color: ORANGE, value: (index) => waiting[index]! },
    ]);
  }

  /** Paints the states of slots, one pixel for each square. */
  private paint(states: Uint8Array): void {
    const { columns, rows, slotsPerSquare } = this.layout(this.sheet.width);
    [this.picture.width, this.picture.height] = [columns, rows];
    const pen = this.picture.getContext("2d")!;
    const image = pen.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const colorWords = COLORS.map((color) => pixelWord(themed(color)));
    for (let square = 0; square * slotsPerSquare < states.length; square++) {
      let shownState = states[square * slotsPerSquare]!;
      for (let slot = square * slotsPerSquare + 1; slot < Math.min(states.length, (square + 1) * slotsPerSquare); slot++) {
        // A square shows one of its slots: one that is filling or destaging rather than a dirty one, and that rather than a clean or free one.
        if (states[slot]! > shownState) shownState = states[slot]!;
      }
      pixels[square] = colorWords[shownState]!;
    }
    pen.putImageData(image, 0, 0);
  }

  /** Draws a strip of counts around the present, which is in the middle; layers are stacked. */
  private drawStrip(pen: CanvasRenderingContext2D, samples: ResidencySamples, top: number, t: number, half_ns: number, name: string, layers: readonly Layer[]): void {
    const { left, width } = laneBounds(this.stationCount, this.sheet.width);
    const first_ns = samples.residency.since_ns[0]!;
    const sampleIndexes = Array.from({ length: STRIP_COLUMNS }, (_, step) => t + ((step + 0.5) / STRIP_COLUMNS - 0.5) * 2 * half_ns).map((time_ns) => (time_ns < first_ns ? null : samples.sampleIndex(time_ns)));
    const maxCount = sampleIndexes.reduce<number>((max, sample) => (sample === null ? max : Math.max(max, layers.reduce((sum, { value }) => sum + value(sample), 0))), 1);
    pen.fillStyle = SURFACE;
    pen.fillRect(left, top, width, STRIP_HEIGHT);
    sampleIndexes.forEach((sample, step) => {
      let layerTop = top + STRIP_HEIGHT;
      for (const { color, value } of sample === null ? [] : layers) {
        const height = (value(sample!) / maxCount) * STRIP_HEIGHT;
        layerTop -= height;
        pen.fillStyle = themed(color);
        pen.fillRect(left + (step / STRIP_COLUMNS) * width, layerTop, width / STRIP_COLUMNS + 0.5, height);
      }
    });
    pen.fillStyle = INK;
    pen.fillRect(left + width / 2 - 1, top - 2, 2, STRIP_HEIGHT + 4);
    const labels = [name, `up to ${maxCount.toLocaleString("en")}`];
    pen.fillStyle = `${PAPER}d0`;
    pen.fillRect(0, top, Math.max(...labels.map((label) => pen.measureText(label).width)) + 6, STRIP_HEIGHT);
    pen.fillStyle = INK;
    labels.forEach((label, lineNumber) => pen.fillText(label, 0, top + 8 + lineNumber * 15));
  }
}

/** Returns the panels of the cache in front of all devices, and of the hybrid that contains a station. */
export function visiblePanels(panels: readonly SlotsPanel[], station: number): readonly SlotsPanel[] {
  const ownPanel = panels.filter((each) => each.station !== null && each.station <= station).at(-1);
  return panels.filter((each) => each.station === null || each === ownPanel);
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
