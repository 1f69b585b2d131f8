import assert from "node:assert/strict";
import { test } from "node:test";
import { SLOT_STATES, type Residency } from "../core/types.ts";
import { ResidencySamples, squareLayout } from "../page/watch/residency.ts";

/** Six slots at four samples, 10 ns apart. */
const SAMPLES = [[0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 2, 0], [1, 0, 0, 3, 4, 0], [2, 0, 0, 1, 0, 0]];

function residency(): Residency {
  const changes: number[] = [];
  const changedSlots: [slot: number, state: number][] = [];
  SAMPLES.forEach((slots, sample) => {
    changes.push(changedSlots.length);
    slots.forEach((state, slot) => {
      if (sample > 0 && SAMPLES[sample - 1]![slot] !== state) changedSlots.push([slot, state]);
    });
  });
  return {
    station: 0, unit: "segment", slot_blocks: 16, has_places: true,
    since_ns: Float64Array.from(SAMPLES, (_, sample) => sample * 10),
    counts: Uint32Array.from(SAMPLES.flatMap((slots) => SLOT_STATES.map((_, state) => slots.filter((each) => each === state).length))),
    waiting: Uint32Array.from(SAMPLES, () => 0), writing: Uint32Array.from(SAMPLES, () => 0),
    first: Uint8Array.from(SAMPLES[0]!), changes: Uint32Array.from(changes),
    slot: Uint32Array.from(changedSlots, ([slot]) => slot), state: Uint8Array.from(changedSlots, ([, state]) => state),
  };
}

test("sample holds until the next one", () => {
  const resident = new ResidencySamples(residency());
  assert.deepEqual([-5, 0, 9.5, 10, 25, 1000].map((t) => resident.sampleIndex(t)), [0, 0, 0, 1, 2, 3]);
});

test("slots are correct in any order of access", () => {
  const resident = new ResidencySamples(residency());
  for (const sample of [0, 1, 2, 3, 1, 0, 3, 3, 2]) {
    assert.deepEqual([...resident.slots(sample)], SAMPLES[sample]);
    assert.deepEqual(resident.counts(sample), SLOT_STATES.map((_, state) => SAMPLES[sample]!.filter((each) => each === state).length));
  }
});

test("layout fits any number of slots", () => {
  for (const [slots, width, height] of [[1, 300, 100], [256, 1160, 150], [32_768, 1160, 150], [900_000, 340, 150]] as const) {
    const { columns, rows, side, slotsPerSquare } = squareLayout(slots, width, height);
    assert.ok(columns * side <= width && rows * side <= Math.max(height, side), `${slots}: ${columns} x ${rows} of ${side}`);
    assert.ok(columns * rows * slotsPerSquare >= slots);
    assert.equal(slotsPerSquare > 1, slots === 900_000);
  }
});
