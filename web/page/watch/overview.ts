// A run as a whole, from the rows of its requests: queue length, response times, and the slowest request.

import type { Rows } from "../../core/types.ts";
import { partitionPoint } from "./window.ts";

export interface Overview {
  readonly end_ns: number;
  readonly requests: number;
  /** Number of the first operation that counts: the operations before it are the warm-up. */
  readonly firstCounted: number;
  readonly warmupRequests: number;
  /** Row of the slowest request that counts; rows are in order of completion. */
  readonly slowest: number;
  /** Instants at which start-ups begin, ascending. */
  readonly startups: Float64Array;
  readonly rows: Rows;
}

export interface Series {
  /** Middles of the buckets, in s. */
  readonly times_s: number[];
  /** Mean number of waiting requests, those of the warm-up included. */
  readonly queue: number[];
  /** Mean and longest response time of the requests that completed and count, in ms; null where none did. */
  readonly mean_ms: (number | null)[];
  readonly longest_ms: (number | null)[];
}

export function summarize(rows: Rows, firstCounted = 0): Overview {
  let slowest = rows.id.findIndex((id) => id >= firstCounted);
  let end_ns = 0;
  let warmupRequests = 0;
  for (let row = 0; row < rows.id.length; row++) {
    if (rows.id[row]! < firstCounted) warmupRequests++;
    else if (responseTime(rows, row) > responseTime(rows, slowest)) slowest = row;
    end_ns = Math.max(end_ns, rows.completion_ns[row]!);
  }
  return { end_ns, requests: rows.id.length, firstCounted, warmupRequests, slowest, startups: findStartups(rows), rows };
}

/** Instants at which start-ups begin. Each request has the part of a start-up for which it waited; the start-up ends with the next selection. */
function findStartups(rows: Rows): Float64Array {
  const order = rows.id.map((_, row) => row).sort((a, b) => rows.start_ns[a]! - rows.start_ns[b]!);
  const startupByEnd_ns = new Map<number, number>();
  for (const row of order.filter((row) => rows.startup_ns[row]! > 0)) {
    const ready_ns = rows.arrival_ns[row]! + rows.startup_ns[row]!;
    const firstIndex = partitionPoint(order.length, (index) => rows.start_ns[order[index]!]! >= ready_ns);
    const wokenRow = order.subarray(firstIndex).find((other) => rows.device[other] === rows.device[row])!;
    startupByEnd_ns.set(rows.start_ns[wokenRow]!, Math.max(startupByEnd_ns.get(rows.start_ns[wokenRow]!) ?? 0, rows.startup_ns[row]!));
  }
  return Float64Array.from(startupByEnd_ns, ([end_ns, startup_ns]) => end_ns - startup_ns).sort();
}

export function responseTime(rows: Rows, row: number): number {
  return rows.completion_ns[row]! - rows.arrival_ns[row]!;
}

/** The row of a request by its number; null where the run has no such request. */
export function rowById(rows: Rows, id: number): number | null {
  const row = rows.id.indexOf(id);
  return row < 0 ? null : row;
}

/** The least and the largest number of a request. */
export function idRange({ id }: Rows): [number, number] {
  return [id.reduce((least, each) => Math.min(least, each), Infinity), id.reduce((most, each) => Math.max(most, each), 0)];
}

/** The next start-up after an instant; null where none follows. */
export function nextStartup(overview: Overview, t: number): number | null {
  const { startups } = overview;
  const nextIndex = partitionPoint(startups.length, (index) => startups[index]! > t);
  return startups[nextIndex] ?? null;
}

/** The curves between two instants, both included, in so many buckets. */
export function computeSeries(overview: Overview, bucketCount: number, from_ns = 0, to_ns = overview.end_ns): Series {
  const { rows, firstCounted } = overview;
  const bucket_ns = Math.max(1, (to_ns - from_ns) / bucketCount);
  const waits = new WaitAccumulator(bucketCount);
  const [sums_ms, counts, longest_ms] = [new Float64Array(bucketCount), new Float64Array(bucketCount), new Float64Array(bucketCount)];
  for (let row = 0; row < rows.id.length; row++) {
    waits.add((rows.arrival_ns[row]! - from_ns) / bucket_ns, (rows.start_ns[row]! - from_ns) / bucket_ns);
    const completion_ns = rows.completion_ns[row]!;
    if (rows.id[row]! < firstCounted || completion_ns < from_ns || completion_ns > to_ns) continue;
    const bucket = Math.min(bucketCount - 1, Math.floor((completion_ns - from_ns) / bucket_ns));
    const response_ms = responseTime(rows, row) / 1e6;
    sums_ms[bucket]! += response_ms;
    counts[bucket]! += 1;
    longest_ms[bucket] = Math.max(longest_ms[bucket]!, response_ms);
  }
  const perBucket = <T>(value: (bucket: number) => T) => Array.from({ length: bucketCount }, (_, bucket) => value(bucket));
  return {
    times_s: perBucket((bucket) => (from_ns + (bucket + 0.5) * bucket_ns) / 1e9),
    queue: waits.means,
    mean_ms: perBucket((bucket) => (counts[bucket]! > 0 ? sums_ms[bucket]! / counts[bucket]! : null)),
    longest_ms: perBucket((bucket) => (counts[bucket]! > 0 ? longest_ms[bucket]! : null)),
  };
}

/** Time waited in each bucket, in units of a bucket. Whole buckets are steps up and down, so that a long wait costs no more than a short one. */
class WaitAccumulator {
  private readonly parts: Float64Array;
  private readonly steps: Float64Array;

  constructor(private readonly bucketCount: number) {
    this.parts = new Float64Array(bucketCount + 1);
    this.steps = new Float64Array(bucketCount + 1);
  }

  /** Adds a request that waits from one place on the axis to another, in buckets. */
  add(from: number, to: number): void {
    const begin = Math.max(0, from);
    const end = Math.min(this.bucketCount, to);
    if (!(end > begin)) return;
    const [first, last] = [Math.floor(begin), Math.floor(end)];
    this.parts[last]! += end - last;
    this.parts[first]! -= begin - first;
    this.steps[first]! += 1;
    this.steps[last]! -= 1;
  }

  get means(): number[] {
    let whole = 0;
    return Array.from({ length: this.bucketCount }, (_, bucket) => {
      whole += this.steps[bucket]!;
      return Math.max(0, whole + this.parts[bucket]!);
    });
  }
}
