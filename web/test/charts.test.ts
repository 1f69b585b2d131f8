import assert from "node:assert/strict";
import { test } from "node:test";
import { spread } from "../charts/curves.ts";
import { csv } from "../charts/menu.ts";
import { unpack, unpackPositions } from "../charts/numbers.ts";
import { linearTicks, logTicks, roundDown, roundUp } from "../charts/ticks.ts";
import { colorPlaces } from "../charts/palette.ts";
import places from "./places.json";
import cases from "./ticks.json";

test("linear ticks are multiples of a round step", () => {
  for (const { low, high, count, ticks } of cases.linear) assert.deepEqual(linearTicks(low, high, count), ticks);
});

test("logarithmic ticks are 1, 2 and 5 in each decade", () => {
  for (const { low, high, count, ticks } of cases.log) assert.deepEqual(logTicks(low, high, count), ticks);
});

test("any range has at least three ticks inside it", () => {
  for (let seed = 1; seed < 2000; seed++) {
    const low = 10 ** ((seed * 0.37) % 9 - 4);
    const high = low * (1.001 + ((seed * 7.13) % 1000));
    for (const ticks of [linearTicks(low, high, seed % 9), logTicks(low, high, seed % 9)]) {
      assert.ok(ticks.length >= 3, `${low} to ${high}: ${ticks}`);
      assert.ok(ticks.every((tick, at) => tick >= low * 0.999999 && tick <= high * 1.000001 && (at === 0 || tick > ticks[at - 1]!)));
    }
  }
});

test("a name has the same color in all figures", () => {
  for (const { names, places: expected } of places) assert.deepEqual(colorPlaces(names), expected);
});

test("values are rounded to 1, 2 or 5", () => {
  assert.deepEqual([0.034, 1, 4.9, 50, 99].map(roundDown), [0.02, 1, 2, 50, 50]);
  assert.deepEqual([0.034, 1, 4.9, 50, 99].map(roundUp), [0.05, 1, 5, 50, 100]);
});

test("packed numbers are unpacked", () => {
  assert.deepEqual(unpack("AAAAABhBE"), [null, 0, 12.34]);
  assert.deepEqual(unpack([1, null]), [1, null]);
  assert.deepEqual(unpackPositions({ first: 1, step: 0.5, count: 3 }), [1, 1.5, 2]);
});

test("names at lines keep their distance and stay inside", () => {
  assert.deepEqual(spread([10, 12, 50], 10, 0, 100), [6, 16, 50]);
  assert.deepEqual(spread([99, 98], 10, 0, 100), [100, 90]);
});

test("a saved table quotes commas and formulas", () => {
  assert.equal(csv([["a,b", "=1+1"], [1.5, null]]), "\"a,b\",'=1+1\r\n1.5,\r\n");
});
