// What a cache or the front of a hybrid holds at an instant of a window: the first look, and what has changed since.

import { SLOTS, type Residency } from "../../core/types.ts";
import { upper } from "./window.ts";

export class Resident {
  private readonly states: Uint8Array;
  /** The look whose slots `states` are. */
  private at = 0;

  constructor(readonly told: Residency) {
    this.states = told.first.slice();
  }

  /** The look that holds at an instant; the first one before that. */
  look(t: number): number {
    return Math.max(0, upper(this.told.since_ns.length, (index) => this.told.since_ns[index]! > t) - 1);
  }

  /** How many slots are in each state at a look. */
  counts(look: number): readonly number[] {
    return Array.from(this.told.counts.subarray(look * SLOTS.length, (look + 1) * SLOTS.length));
  }

  /** The state of every slot at a look. It is the same array every time. */
  slots(look: number): Uint8Array {
    const { first, changes, slot, state } = this.told;
    if (look < this.at) {
      this.states.set(first);
      this.at = 0;
    }
    const [from, to] = [changes[this.at + 1] ?? slot.length, changes[look + 1] ?? slot.length];
    for (let row = from; row < to; row++) this.states[slot[row]!] = state[row]!;
    this.at = look;
    return this.states;
  }
}

/** Where slots are drawn: squares line by line, several of them in one where there is no room for all. */
export interface Squares {
  readonly columns: number;
  readonly rows: number;
  /** Length of a side, in pixels. */
  readonly side: number;
  /** Slots in a square. */
  readonly each: number;
}

/** Squares as large as an area takes, within bounds. */
export function squares(slots: number, width: number, height: number, least = 2, most = 14): Squares {
  const side = Math.max(least, Math.min(most, Math.floor(Math.sqrt((width * height) / Math.max(1, slots)))));
  const columns = Math.max(1, Math.floor(width / side));
  const room = columns * Math.max(1, Math.floor(height / side));
  const each = Math.max(1, Math.ceil(slots / room));
  return { columns, rows: Math.max(1, Math.ceil(slots / each / columns)), side, each };
}
