import assert from "node:assert/strict";
import { test } from "node:test";
import { formatChange, KNOBS, scale, roundToThreeDigits } from "../page/design/sliders.ts";
import { alignCurves, alignSteps, waitByPlace } from "../page/race/places.ts";
import { verdict } from "../page/race/verdict.ts";
import { rows, simulateToy } from "./toy.ts";

test("aligned curves are interpolated linearly", () => {
  const [axis, one, other] = alignCurves([{ x: [0, 2, 4], y: [0, 20, 40] }, { x: [1, 4], y: [1, 4] }]);
  assert.deepEqual(axis, [0, 1, 2, 4]);
  assert.deepEqual(one, [0, 10, 20, 40]);
  assert.deepEqual(other, [null, 1, 2, 4]);
});

test("aligned steps keep their value until the next step", () => {
  const [axis, one, other] = alignSteps([{ x: [1, 10], y: [50, 100] }, { x: [0, 4], y: [25, 100] }]);
  assert.deepEqual(axis, [0, 1, 4, 10]);
  assert.deepEqual(one, [null, 50, 50, 100]);
  assert.deepEqual(other, [25, 25, 100, 100]);
});

test("waits by place omit the warm-up", () => {
  const all = rows(simulateToy(100));
  const last = { ...all, arrival_ns: all.arrival_ns.map((arrival_ns, row) => (all.id[row]! < 60 ? -1e12 : arrival_ns)) };
  assert.ok(waitByPlace(last, 2500 * 2700, 1, 60)[0]! < 1e3);
  assert.ok(waitByPlace(last, 2500 * 2700, 1)[0]! > 1e5);
});

test("nearest-first scheduling makes the edges wait longer", () => {
  const waits = waitByPlace(rows(simulateToy(4000, 560_000)), 2500 * 2700, 10);
  const [edge, middle] = [(waits[0]! + waits[9]!) / 2, (waits[4]! + waits[5]!) / 2];
  assert.ok(edge > middle, `${edge} and ${middle}`);
});

const [elevator, greedy] = [
  { name: "c-scan", mean_ms: 8.56, max_ms: 50.3, energy_j: 12, isSaturated: false }, { name: "sptf", mean_ms: 6.63, max_ms: 85.9, energy_j: 11, isSaturated: false },
];

test("overloaded runners are named but not compared", () => {
  const late = { name: "fcfs", mean_ms: 1, max_ms: 2, energy_j: 3, isSaturated: true };
  assert.equal(verdict([elevator, greedy, late]), "fcfs is overloaded: its queue kept growing, so response times depend on the length of the run. "
    + `Of the others, ${verdict([elevator, greedy])}`);
  assert.match(verdict([elevator, late, { ...greedy, energy_j: 12 }]), / They take about the same energy, 12.0 J.$/);
  assert.equal(verdict([greedy, late, { ...elevator, isSaturated: true }]), "Only sptf keeps up: it answers in 6.63 ms on average, and in 85.9 ms at most. "
    + "fcfs and c-scan are overloaded: their queues kept growing, so response times depend on the length of the run.");
  assert.equal(verdict([late, { ...greedy, isSaturated: true }]),
    "All runners are overloaded: their queues kept growing, so response times depend on the length of the run.");
});

test("verdict names fastest and most frugal runner", () => {
  assert.equal(verdict([elevator, greedy]),
    "sptf answers soonest on average, in 6.63 ms, but its longest answer takes 85.9 ms; that of c-scan takes 50.3 ms. sptf takes least energy, 11.0 J.");
  assert.equal(verdict([elevator, { ...greedy, mean_ms: 9 }]),
    "c-scan answers soonest on average, in 8.56 ms, and its longest answer is the shortest too, 50.3 ms. sptf takes least energy, 11.0 J.");
  assert.match(verdict([elevator, { ...greedy, energy_j: 12.1 }]), /All take about the same energy, 12.1 J.$/);
});

test("runners with equal times tie", () => {
  const twin = { ...greedy, name: "sstf" };
  assert.equal(verdict([twin, greedy]), "All answer in 6.63 ms on average, and the longest answer of each takes 85.9 ms. All take about the same energy, 11.0 J.");
  assert.match(verdict([twin, greedy, elevator]), /^sstf and sptf answer soonest on average, in 6.63 ms, but their longest answers take 85.9 ms; that of c-scan takes 50.3 ms\. /);
  assert.match(verdict([twin, greedy, { ...elevator, max_ms: 90 }]), /^sstf and sptf answer soonest on average, in 6.63 ms, and their longest answers are the shortest too, 85.9 ms\. /);
  assert.match(verdict([greedy, { ...elevator, max_ms: 85.9 }]), /^sptf answers soonest on average, in 6.63 ms, and the longest answer of each takes 85.9 ms\. /);
});

test("slider centers the default and clamps to range", () => {
  const run = scale({ name: "bit_nm", label: "", factor: 2 }, 40, { name: "bit_nm", meaning: "", default: 40, range: [30, 1000] });
  assert.equal(run.value(run.steps / 2), 40);
  assert.equal(run.place(40), run.steps / 2);
  assert.equal(run.value(0), 30);
  assert.equal(run.value(run.steps), 80);
  const straight = scale({ name: "spring_factor", label: "", interval: [0, 1] }, 0.75, undefined);
  assert.equal(straight.value(straight.place(0.75)), 0.75);
  assert.equal(roundToThreeDigits(0.123456), 0.123);
  assert.equal(new Set(KNOBS.map(({ name }) => name)).size, KNOBS.length);
});

test("changes are relative to the base value", () => {
  assert.deepEqual([formatChange(1, 1), formatChange(1.1, 1), formatChange(0.9, 1), formatChange(3, 1), formatChange(0.9994, 1)], ["as before", "+10 %", "−10 %", "× 3.0", "as before"]);
});
