import assert from "node:assert/strict";
import { test } from "node:test";
import { SLOTS, type Residency } from "../core/types.ts";
import { Resident, squares } from "../page/watch/residency.ts";

/** Six slots at four looks, 10 ns apart. */
const LOOKS = [[0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 2, 0], [1, 0, 0, 3, 4, 0], [2, 0, 0, 1, 0, 0]];

function residency(): Residency {
  const changes: number[] = [];
  const changed: [slot: number, state: number][] = [];
  LOOKS.forEach((slots, look) => {
    changes.push(changed.length);
    slots.forEach((state, slot) => {
      if (look > 0 && LOOKS[look - 1]![slot] !== state) changed.push([slot, state]);
    });
  });
  return {
    station: 0, unit: "segment", slot_blocks: 16, has_places: true,
    since_ns: Float64Array.from(LOOKS, (_, look) => look * 10),
    counts: Uint32Array.from(LOOKS.flatMap((slots) => SLOTS.map((_, state) => slots.filter((each) => each === state).length))),
    waiting: Uint32Array.from(LOOKS, () => 0), writing: Uint32Array.from(LOOKS, () => 0),
    first: Uint8Array.from(LOOKS[0]!), changes: Uint32Array.from(changes),
    slot: Uint32Array.from(changed, ([slot]) => slot), state: Uint8Array.from(changed, ([, state]) => state),
  };
}

test("a look holds until the next", () => {
  const resident = new Resident(residency());
  assert.deepEqual([-5, 0, 9.5, 10, 25, 1000].map((t) => resident.look(t)), [0, 0, 0, 1, 2, 3]);
});

test("slots are found forwards, backwards and by leaps", () => {
  const resident = new Resident(residency());
  for (const look of [0, 1, 2, 3, 1, 0, 3, 3, 2]) {
    assert.deepEqual([...resident.slots(look)], LOOKS[look]);
    assert.deepEqual(resident.counts(look), SLOTS.map((_, state) => LOOKS[look]!.filter((each) => each === state).length));
  }
});

test("all slots find room, however many there are", () => {
  for (const [slots, width, height] of [[1, 300, 100], [256, 1160, 150], [32_768, 1160, 150], [900_000, 340, 150]] as const) {
    const { columns, rows, side, each } = squares(slots, width, height);
    assert.ok(columns * side <= width && rows * side <= Math.max(height, side), `${slots}: ${columns} x ${rows} of ${side}`);
    assert.ok(columns * rows * each >= slots);
    assert.equal(each > 1, slots === 900_000);
  }
});
