import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes, formatCapacity, formatTime, formatCount, formatNumber, shorten, formatDuration, formatUnit } from "../page/format.ts";
import { cividis } from "../page/palette.ts";
import { advance, formatSpeed, SPEEDS } from "../page/watch/speed.ts";

test("numbers have three digits and no exponent", () => {
  assert.deepEqual([0.412345, 1.5, 12.34, 1234.5, 0, NaN].map((each) => formatNumber(each)), ["0.412", "1.50", "12.3", "1,235", "0", "–"]);
});

test("durations have a suitable unit", () => {
  assert.deepEqual([0, 12, 412_345, 3_100_000, 43.3e9].map(formatDuration), ["0", "12.0 ns", "412 µs", "3.10 ms", "43.3 s"]);
});

test("times, bytes and counts are formatted", () => {
  assert.equal(formatTime(43_309_495_000), "43.309495 s");
  assert.deepEqual([0, 512, 8192, 1_048_576, 3_456_000_000].map(formatBytes), ["0 B", "512 B", "8 KB", "1 MiB", "3.22 GiB"]);
  assert.deepEqual([0, 512, 300e6, 3_456_000_000].map(formatCapacity), ["0 B", "512 B", "300 MB", "3.46 GB"]);
  assert.deepEqual([1, 20_000].map((each) => formatCount(each, "request")), ["1 request", "20,000 requests"]);
});

test("units are formatted", () => {
  assert.deepEqual(["um", "m/s2", "kbit/s", "ms"].map(formatUnit), ["µm", "m/s²", "kbit/s", "ms"]);
});

test("file names are shortened and control characters shown", () => {
  assert.equal(shorten("a\u202eb\u0000c"), "a\uFFFDb\uFFFDc");
  assert.equal(shorten("x".repeat(100), 10), `${"x".repeat(9)}…`);
});

test("cividis goes from dark to light", () => {
  assert.deepEqual(cividis(0), [0, 32, 77]);
  assert.deepEqual(cividis(1), [255, 234, 70]);
  const light = (share: number) => cividis(share).reduce((sum, each, channel) => sum + each * [0.21, 0.72, 0.07][channel]!, 0);
  for (let step = 1; step <= 100; step++) assert.ok(light(step / 100) >= light((step - 1) / 100) - 0.5);
});

test("speeds are formatted and advance time", () => {
  assert.equal(formatSpeed(SPEEDS[0]!), "1 µs/s");
  assert.equal(formatSpeed(1e-3), "1 ms/s");
  assert.equal(formatSpeed(SPEEDS.at(-1)!), "as fast as it goes");
  assert.equal(advance(1e-3, 16), 16_000);
  assert.equal(advance(1, 5000), advance(1, 100));
});
