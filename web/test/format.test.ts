import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, clock, counted, figure, short, span, unit } from "../page/format.ts";
import { cividis } from "../page/palette.ts";
import { advance, spoken, SPEEDS } from "../page/watch/speed.ts";

test("figures have three digits and no exponent", () => {
  assert.deepEqual([0.412345, 1.5, 12.34, 1234.5, 0, NaN].map((each) => figure(each)), ["0.412", "1.50", "12.3", "1,235", "0", "–"]);
});

test("spans take the unit that suits them", () => {
  assert.deepEqual([0, 12, 412_345, 3_100_000, 43.3e9].map(span), ["0", "12.0 ns", "412 µs", "3.10 ms", "43.3 s"]);
});

test("instants, bytes and counts", () => {
  assert.equal(clock(43_309_495_000), "43.309495 s");
  assert.deepEqual([512, 8192, 3_456_000_000].map(bytes), ["512 B", "8 KB", "3.22 GB"]);
  assert.deepEqual([1, 20_000].map((each) => counted(each, "request")), ["1 request", "20,000 requests"]);
});

test("units", () => {
  assert.deepEqual(["um", "m/s2", "kbit/s", "ms"].map(unit), ["µm", "m/s²", "kbit/s", "ms"]);
});

test("names of files are shown short and with all that cannot be seen", () => {
  assert.equal(short("a\u202eb\u0000c"), "a\uFFFDb\uFFFDc");
  assert.equal(short("x".repeat(100), 10), `${"x".repeat(9)}…`);
});

test("the map goes from dark to light", () => {
  assert.deepEqual(cividis(0), [0, 32, 77]);
  assert.deepEqual(cividis(1), [255, 234, 70]);
  const light = (share: number) => cividis(share).reduce((sum, each, channel) => sum + each * [0.21, 0.72, 0.07][channel]!, 0);
  for (let step = 1; step <= 100; step++) assert.ok(light(step / 100) >= light((step - 1) / 100) - 0.5);
});

test("speeds reach from a microsecond a second to as fast as it goes", () => {
  assert.equal(spoken(SPEEDS[0]!), "1 µs/s");
  assert.equal(spoken(1e-3), "1 ms/s");
  assert.equal(spoken(SPEEDS.at(-1)!), "as fast as it goes");
  assert.equal(advance(1e-3, 16), 16_000);
  assert.equal(advance(1, 5000), advance(1, 100));
});
