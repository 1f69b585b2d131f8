// The residency of a cache or of the front of a hybrid in a window: the first sample, and the changes of each later one.

import { SLOT_STATES, type Residency } from "../../core/types.ts";
import { partitionPoint } from "./window.ts";

export class ResidencySamples {
  private readonly states: Uint8Array;
  /** The sample whose states `states` holds. */
  private currentSample = 0;

  constructor(readonly residency: Residency) {
    this.states = residency.first.slice();
  }

  /** The last sample up to an instant; the first sample for instants before all of them. */
  sampleIndex(t: number): number {
    return Math.max(0, partitionPoint(this.residency.since_ns.length, (index) => this.residency.since_ns[index]! > t) - 1);
  }

  /** Number of slots in each state at a sample. */
  counts(sample: number): readonly number[] {
    return Array.from(this.residency.counts.subarray(sample * SLOT_STATES.length, (sample + 1) * SLOT_STATES.length));
  }

  /** The state of every slot at a sample. Each call returns the same array, changed. */
  slots(sample: number): Uint8Array {
    const { first, changes, slot, state } = this.residency;
    if (sample < this.currentSample) {
      this.states.set(first);
      this.currentSample = 0;
    }
    const [fromRow, toRow] = [changes[this.currentSample + 1] ?? slot.length, changes[sample + 1] ?? slot.length];
    for (let row = fromRow; row < toRow; row++) this.states[slot[row]!] = state[row]!;
    this.currentSample = sample;
    return this.states;
  }
}

/** The layout of slots in an area: squares line by line, each for several slots where there is no room for all. */
export interface SquareLayout {
  readonly columns: number;
  readonly rows: number;
  /** Length of a side, in pixels. */
  readonly side: number;
  /** Slots in a square. */
  readonly slotsPerSquare: number;
}

/** The largest squares that fit into an area, with sides from `minSide` to `maxSide` pixels. */
export function squareLayout(slotCount: number, width: number, height: number, minSide = 2, maxSide = 14): SquareLayout {
  const side = Math.max(minSide, Math.min(maxSide, Math.floor(Math.sqrt((width * height) / Math.max(1, slotCount)))));
  const columns = Math.max(1, Math.floor(width / side));
  const capacity = columns * Math.max(1, Math.floor(height / side));
  const slotsPerSquare = Math.max(1, Math.ceil(slotCount / capacity));
  return { columns, rows: Math.max(1, Math.ceil(slotCount / slotsPerSquare / columns)), side, slotsPerSquare };
}
