import assert from "node:assert/strict";
import { test } from "node:test";
import type { Laboratory } from "../core/laboratory.ts";
import type { RunDescription } from "../core/types.ts";
import { Player } from "../page/watch/player.ts";
import { SPEEDS } from "../page/watch/speed.ts";
import { evenToy, windowData, type Toy } from "./toy.ts";

/** A run of a toy; positions are those of the window watched last, as in the core, and name its beginning. */
function laboratory(toy: Toy): Laboratory {
  let watchedFrom_ns = NaN;
  return {
    open: () => Promise.resolve({ run: 0, toml: "", stations: [{}], capacity_blocks: 1 } as unknown as RunDescription),
    watch: (_: number, from_ns: number, choices: number, until_ns: number) => {
      watchedFrom_ns = Math.floor(from_ns);
      return Promise.resolve(windowData(toy, watchedFrom_ns, choices, until_ns));
    },
    positions: (_run: number, _station: number, at_ns: readonly number[]) =>
      Promise.resolve({ x: Float64Array.from(at_ns, () => watchedFrom_ns), y: Float64Array.from(at_ns, () => 0) }),
  } as unknown as Laboratory;
}

function open(toy: Toy, t: number): Promise<Player> {
  return Player.open(laboratory(toy), "", t, () => {}, assert.fail);
}

/** From a choice every 50 ms to one every 2 microseconds. */
const GAPS_NS = [50e6, 1e6, 20e3, 2e3];
const CHOICES = 4000;
const START = 1500;

for (const gap_ns of GAPS_NS) {
  test(`instants are reached with a choice every ${gap_ns / 1e3} microseconds`, async () => {
    const toy = evenToy(CHOICES, gap_ns);
    const end = CHOICES * gap_ns;
    for (const share of [0, 0.013, 0.5, 0.99]) {
      const t = Math.round(share * end);
      const player = await open(toy, t);
      assert.equal(player.t, t);
      await player.jump(0.25 * end + 0.5);
      assert.equal(player.t, 0.25 * end + 0.5);
      assert.ok(player.loadedWindow.window.contains(player.t));
    }
    const player = await open(toy, end * 2);
    assert.equal(player.t, end);
    assert.ok(player.hasEnded);
  });

  test(`steps lead across windows with a choice every ${gap_ns / 1e3} microseconds`, async () => {
    const player = await open(evenToy(CHOICES, gap_ns), START * gap_ns);
    for (const steps of [1, 10]) {
      for (let choice = START + steps; choice <= 2 * START; choice += steps) {
        await player.step(steps);
        assert.equal(player.t, choice * gap_ns);
      }
      await player.jump(START * gap_ns);
      for (let choice = START - steps; choice >= 0; choice -= steps) {
        await player.step(-steps);
        assert.equal(player.t, choice * gap_ns);
      }
      await player.step(-steps);
      assert.equal(player.t, 0);
      await player.jump(START * gap_ns);
    }
    await player.jump((CHOICES - 5) * gap_ns);
    await player.step(10);
    assert.equal(player.t, CHOICES * gap_ns);
  });
}

test("a jump replaces the windows of earlier jumps", async () => {
  const player = await open(evenToy(CHOICES, 1e6), 0);
  const jumps = [3_000e6, 2_000e6, 2_500e6].map((t) => player.jump(t));
  player.frame(0);
  await Promise.all(jumps);
  const { window, paths } = player.loadedWindow;
  assert.equal(player.t, 2_500e6);
  assert.equal(paths[0]!.position(player.t).x, window.from_ns);
});

test("playing passes from window to window after jumps", async () => {
  const player = await open(evenToy(CHOICES, 1e6), 150e6);
  player.speedIndex = SPEEDS.indexOf(5);
  player.frame(0);
  await player.jump(160e6);
  player.isPlaying = true;
  let before = player.t;
  for (let frame = 0; frame < 100 && !player.hasEnded; frame++) {
    player.frame(100);
    await new Promise((resolve) => setTimeout(resolve));
    assert.ok(player.t >= before && player.loadedWindow.window.contains(player.t));
    before = player.t;
  }
  assert.equal(player.t, CHOICES * 1e6);
});
