// The residency of a cache or of the front of a hybrid in a window: the first sample (look), and the changes of each later one.

import { SLOTS, type Residency } from "../../core/types.ts";
import { upper } from "./window.ts";

export class Resident {
  private readonly states: Uint8Array;
  /** The look whose states `states` holds. */
  private at = 0;

  constructor(readonly residency: Residency) {
    this.states = residency.first.slice();
  }

  /** The last look up to an instant; the first look for instants before all of them. */
  look(t: number): number {
    return Math.max(0, upper(this.residency.since_ns.length, (index) => this.residency.since_ns[index]! > t) - 1);
  }

  /** Number of slots in each state at a look. */
  counts(look: number): readonly number[] {
    return Array.from(this.residency.counts.subarray(look * SLOTS.length, (look + 1) * SLOTS.length));
  }

  /** The state of every slot at a look. Each call returns the same array, changed. */
  slots(look: number): Uint8Array {
    const { first, changes, slot, state } = this.residency;
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

/** The layout of slots in an area: squares line by line, each for several slots where there is no room for all. */
export interface Squares {
  readonly columns: number;
  readonly rows: number;
  /** Length of a side, in pixels. */
  readonly side: number;
  /** Slots in a square. */
  readonly each: number;
}

/** The largest squares that fit into an area, with sides from `least` to `most` pixels. */
export function squares(slots: number, width: number, height: number, least = 2, most = 14): Squares {
  const side = Math.max(least, Math.min(most, Math.floor(Math.sqrt((width * height) / Math.max(1, slots)))));
  const columns = Math.max(1, Math.floor(width / side));
  const room = columns * Math.max(1, Math.floor(height / side));
  const each = Math.max(1, Math.ceil(slots / room));
  return { columns, rows: Math.max(1, Math.ceil(slots / each / columns)), side, each };
}
