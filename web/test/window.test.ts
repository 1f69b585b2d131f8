import assert from "node:assert/strict";
import { test } from "node:test";
import { describeChoice, describeDeviation } from "../page/watch/choice.ts";
import { accessTimeline, timelineParts, requestTimeline } from "../page/watch/timeline.ts";
import { idRange, nextStartup, summarize, responseTime, computeSeries } from "../page/watch/overview.ts";
import { sampleTimes, Path } from "../page/watch/path.ts";
import { Frame, ticks } from "../page/watch/scene.ts";
import { partitionPoint, Window } from "../page/watch/window.ts";
import { positions, rows, simulateToy, windowData } from "./toy.ts";

const TOY = simulateToy(400);
const WINDOW = new Window(windowData(TOY, 0, 200), 1);

test("partition point is the first matching index", () => {
  assert.deepEqual([0, 3, 9].map((from) => partitionPoint(9, (index) => index >= from)), [0, 3, 9]);
});

test("waiting rows are queued and not started", () => {
  for (const choice of TOY.choices.slice(0, 150)) {
    const waiting = WINDOW.waitingRows(choice.at_ns - 0.5, 0).map((row) => WINDOW.data.accesses.id[row]);
    const expected = choice.waiting.filter(({ queued_ns }) => queued_ns < choice.at_ns).map(({ id }) => id);
    assert.deepEqual(new Set(waiting), new Set(expected));
  }
});

test("steps lead from choice to choice", () => {
  const times_ns = TOY.choices.map((each) => each.at_ns);
  const choice = WINDOW.choice(times_ns[5]! + 1)!;
  assert.equal(choice.at_ns, times_ns[5]);
  assert.equal(choice.waiting, TOY.choices[5]!.waiting.length);
  assert.ok(choice.candidates[0]!.isChosen);
  assert.equal(WINDOW.step(times_ns[5]!, 1), times_ns[6]);
  assert.equal(WINDOW.step(times_ns[5]!, -1), times_ns[4]);
  assert.equal(WINDOW.step(times_ns[5]! + 1, -1), times_ns[5]);
  assert.equal(WINDOW.step(times_ns[5]!, 10), times_ns[15]);
  assert.equal(WINDOW.step(0, -1), null);
  assert.equal(WINDOW.choice(times_ns[0]! - 1), null);
  assert.equal(WINDOW.choicesAfter(times_ns[5]!) - WINDOW.choicesAfter(times_ns[15]!), 10);
});

test("description names chosen request and next best", () => {
  const index = TOY.choices.findIndex(({ waiting }) => waiting.length > 2);
  const text = describeChoice(WINDOW, WINDOW.choice(TOY.choices[index]!.at_ns)!, "SPTF");
  assert.match(text, /^\d+\.\d{6} s: SPTF takes (read|write) 4 KB #\d+, [\d.]+ [µm]s away, of \d+; the next best is [\d.]+ [µm]s away\.$/);
});

test("timeline parts add up to the response time", () => {
  const { accesses } = WINDOW.data;
  for (let row = 0; row < 100; row++) {
    if (!Number.isFinite(accesses.end_ns[row]!)) continue;
    const last = timelineParts(accessTimeline(accesses, row)).at(-1)!;
    assert.equal(last.name, "transfer");
    assert.ok(Math.abs(last.to_ns - (accesses.end_ns[row]! - accesses.queued_ns[row]!)) < 2, `row ${row}`);
  }
});

test("host request has its own times", () => {
  const all = rows(TOY);
  const { id, arrival_ns, end_ns, blocks } = requestTimeline(all, 7);
  assert.deepEqual([id, arrival_ns, end_ns, blocks], [all.id[7], all.arrival_ns[7], all.completion_ns[7], 8]);
});

test("unexpected positioning time is explained", () => {
  const data = windowData(TOY, 0, 200);
  const index = TOY.choices.findIndex(({ waiting }) => waiting.length > 2);
  const explanation = () => {
    const window = new Window(data, 1);
    return describeDeviation(window, window.choice(TOY.choices[index]!.at_ns)!);
  };
  assert.equal(explanation(), "");
  const first = data.choices.first[index]!;
  const row = data.candidates.access[first]!;
  data.candidates.positioning_ns[first]! += 1000;
  assert.match(explanation(), /^The scheduler expects [\d.]+ [µm]s of positioning for #\d+; it takes [\d.]+ [µm]s\.$/);
  for (const times of [data.accesses.seek_x_ns, data.accesses.settle_ns, data.accesses.seek_y_ns, data.accesses.turnaround_ns]) times[row] = 0;
  data.accesses.turns[row] = 0.01;
  assert.match(explanation(), /; the drive’s buffer serves it without positioning\.$/);
  data.accesses.end_ns[row] = Infinity;
  assert.equal(explanation(), "");
});

test("path interpolates between samples", () => {
  const times_ns = sampleTimes(WINDOW, 0);
  assert.ok(times_ns.every((each, index) => index === 0 || each >= times_ns[index - 1]!));
  const path = new Path(times_ns, positions(TOY, times_ns));
  for (const choice of TOY.choices.slice(1, 50)) {
    const exact = positions(TOY, [choice.at_ns + 100_000]);
    const interpolated = path.position(choice.at_ns + 100_000);
    assert.ok(Math.abs(interpolated.x - exact.x[0]!) < 60 && Math.abs(interpolated.y - exact.y[0]!) < 60);
  }
});

test("overview and buckets account for every request", () => {
  const overview = summarize(rows(TOY));
  const responses_ns = Array.from(overview.rows.id, (_, row) => responseTime(overview.rows, row));
  assert.equal(responseTime(overview.rows, overview.slowest), Math.max(...responses_ns));
  const series = computeSeries(overview, 50);
  const bucket_ns = overview.end_ns / 50;
  const waited_ns = series.queue.reduce((sum, each) => sum + each * bucket_ns, 0);
  const expected_ns = Array.from(overview.rows.id, (_, row) => overview.rows.start_ns[row]! - overview.rows.arrival_ns[row]!).reduce((sum, each) => sum + each, 0);
  assert.ok(Math.abs(waited_ns / expected_ns - 1) < 1e-9);
  assert.ok(Math.abs(Math.max(...series.longest_ms.map((each) => each ?? 0)) * 1e6 - Math.max(...responses_ns)) < 1);
  assert.equal(nextStartup(overview, 0), null);
});

test("requests that wait for one start-up show it once", () => {
  const [toy, column] = [rows(TOY), (...values: number[]) => Float64Array.from(values)];
  // From 10 to 15 the device starts up; the last request is served first.
  const waiting = { ...toy, id: column(0, 1, 2), arrival_ns: column(0, 13, 10), start_ns: column(0, 15, 18), completion_ns: column(5, 18, 25), startup_ns: column(0, 2, 5) };
  assert.deepEqual(Array.from(summarize(waiting).startups), [10]);
});

test("last completion is in the series", () => {
  for (const count of [1, 2, 3, 34, 100]) {
    const all = rows(simulateToy(count));
    for (const [from, to] of [[0, all.completion_ns.at(-1)!], [all.completion_ns[0]!, all.completion_ns.at(-1)!]] as const) {
      const { longest_ms } = computeSeries(summarize(all), 600, from, to);
      const expected_ns = Math.max(...Array.from(all.id, (_, row) => responseTime(all, row)));
      assert.ok(Math.abs(Math.max(...longest_ms.map((each) => each ?? 0)) * 1e6 - expected_ns) < 1, `${count} requests`);
    }
  }
});

test("warm-up waits but has no response times", () => {
  const all = rows(simulateToy(400));
  const [withoutWarmup, withWarmup] = [summarize(all, 200), summarize(all)];
  assert.equal(withoutWarmup.warmupRequests, 200);
  assert.ok(all.id[withoutWarmup.slowest]! >= 200);
  const [countedSeries, fullSeries] = [computeSeries(withoutWarmup, 50), computeSeries(withWarmup, 50)];
  assert.deepEqual(countedSeries.queue, fullSeries.queue);
  assert.ok(countedSeries.mean_ms.slice(0, 10).every((each) => each === null) && fullSeries.mean_ms.slice(0, 10).some((each) => each !== null));
  assert.equal(Math.max(...countedSeries.longest_ms.map((each) => each ?? 0)), responseTime(all, withoutWarmup.slowest) / 1e6);
});

test("numbers of requests may have gaps", () => {
  const all = rows(simulateToy(30));
  assert.deepEqual(idRange({ ...all, id: all.id.map((id) => 2 * id + 7) }), [7, 65]);
});

test("no start-up follows the last one", () => {
  const run = { ...summarize(rows(TOY)), startups: Float64Array.of(5, 9) };
  assert.deepEqual([0, 5, 9].map((t) => nextStartup(run, t)), [5, 9, null]);
});

test("frame coordinates round-trip", () => {
  const frame = new Frame({ columns: 2500, rows: 27 }, 700, 400, { left: 40, right: 10, top: 20, bottom: 30 });
  for (const [column, row] of [[0, 0], [1250, 13], [2499, 26]] as const) assert.deepEqual(frame.place(frame.x(column), frame.y(row)), { column, row });
  assert.equal(frame.place(5, 5), null);
  assert.deepEqual(ticks(2499, 6), [0, 500, 1000, 1500, 2000]);
});
