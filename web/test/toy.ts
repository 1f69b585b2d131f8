// A toy of a core: a sled that moves in straight lines under SPTF, to test what the page makes of windows of time.

import type { Positions, Rows, WindowData } from "../core/types.ts";

export const COLUMNS = 2500;
export const ROWS = 27;
const SETTLE_NS = 215_000;
const ROW_NS = 129_000;

interface Request {
  id: number;
  queued: number;
  start: number;
  end: number;
  column: number;
  row: number;
  write: boolean;
  x_ns: number;
  y_ns: number;
}

export interface Toy {
  readonly requests: readonly Request[];
  readonly choices: readonly { readonly at: number; readonly waiting: readonly Request[] }[];
}

/** Requests served one after the other, always the nearest. */
export function simulateToy(count: number, gap_ns = 620_000): Toy {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  let at = 0;
  const requests: Request[] = Array.from({ length: count }, (_, id) => {
    at += Math.round(-Math.log(1 - random()) * gap_ns);
    return { id, queued: at, start: Infinity, end: Infinity, column: Math.floor(random() * COLUMNS), row: Math.floor(random() * ROWS), write: random() < 0.33, x_ns: 0, y_ns: 0 };
  });
  const choices: { at: number; waiting: Request[] }[] = [];
  let [now, column, row, next] = [0, COLUMNS / 2, 13, 0];
  const waiting: Request[] = [];
  for (let served = 0; served < count; served++) {
    if (waiting.length === 0) now = Math.max(now, requests[next]!.queued);
    while (next < count && requests[next]!.queued <= now) waiting.push(requests[next++]!);
    for (const each of waiting) {
      each.x_ns = each.column === column ? 0 : 60_000 + Math.sqrt(Math.abs(each.column - column)) * 9_000;
      each.y_ns = 30_000 + Math.abs(each.row - row) * 11_000;
    }
    const cost = (each: Request) => Math.max(each.x_ns ? each.x_ns + SETTLE_NS : 0, each.y_ns);
    waiting.sort((one, other) => cost(one) - cost(other) || one.id - other.id);
    choices.push({ at: now, waiting: waiting.map((each) => ({ ...each })) });
    const taken = waiting.shift()!;
    [taken.start, taken.end] = [now, now + cost(taken) + ROW_NS];
    [now, column, row] = [taken.end, taken.column, taken.row];
  }
  return { requests, choices };
}

/** Requests that arrive at equal distances and are served at once. */
export function evenToy(count: number, gap_ns: number): Toy {
  const requests = Array.from({ length: count }, (_, id) => ({
    id, queued: id * gap_ns, start: id * gap_ns, end: (id + 1) * gap_ns, column: id % COLUMNS, row: 0, write: false, x_ns: 0, y_ns: 0,
  }));
  return { requests, choices: requests.map((each) => ({ at: each.start, waiting: [each] })) };
}

/** The data of a window, as the core returns them. */
export function windowData({ requests, choices }: Toy, from_ns: number, accesses: number, until_ns = 0): WindowData {
  const later = choices.filter(({ at }) => at >= from_ns);
  const chosen = later.slice(0, Math.max(accesses, later.filter(({ at }) => at < until_ns).length + 1));
  const last_ns = chosen.at(-1)?.at ?? Infinity;
  const after = choices.find(({ at }) => at > last_ns);
  const to_ns = after ? last_ns : Math.max(...requests.filter(({ end }) => Number.isFinite(end)).map(({ end }) => end));
  const rows = requests.filter(({ queued, end }) => queued <= to_ns && end > from_ns);
  const seen = rows.map((each) => (each.start > to_ns ? { ...each, start: Infinity, end: Infinity } : each));
  const place = new Map(seen.map(({ id }, index) => [id, index]));
  const f64 = (value: (each: Request) => number) => Float64Array.from(seen, value);
  const candidates = chosen.map(({ waiting }) => waiting.slice(0, 8));
  const flat = candidates.flat();
  const cost = (each: Request) => Math.max(each.x_ns ? each.x_ns + SETTLE_NS : 0, each.y_ns);
  let first = 0;
  return {
    from_ns: Math.min(from_ns, to_ns), to_ns, done: !after,
    accesses: {
      id: f64(({ id }) => id), station: Uint16Array.from(seen, () => 0), queued_ns: f64(({ queued }) => queued), start_ns: f64(({ start }) => start), end_ns: f64(({ end }) => end),
      lbn: f64(({ column, row }) => column * 2700 + row * 100), blocks: Uint32Array.from(seen, () => 8), op: Uint8Array.from(seen, ({ write }) => (write ? 87 : 82)),
      column: Uint32Array.from(seen, ({ column }) => column), row: Uint32Array.from(seen, ({ row }) => row), x_bit: Int32Array.from(seen, ({ column }) => column - COLUMNS / 2), y_bit: Int32Array.from(seen, ({ row }) => row * 90),
      turn: f64(() => 0), turns: f64(() => 0),
      overhead_ns: f64(() => 0), seek_x_ns: f64(({ x_ns }) => x_ns), settle_ns: f64(({ x_ns }) => (x_ns ? SETTLE_NS : 0)), seek_y_ns: f64(({ y_ns }) => y_ns * 0.8),
      turnaround_ns: f64(({ y_ns }) => y_ns * 0.2), rotation_ns: f64(() => 0), transfer_ns: f64(() => ROW_NS), startup_ns: f64(() => 0),
    },
    choices: {
      at_ns: Float64Array.from(chosen, ({ at }) => at), station: Uint16Array.from(chosen, () => 0), waiting: Uint32Array.from(chosen, ({ waiting }) => waiting.length),
      first: Uint32Array.from(candidates, (each) => (first += each.length) - each.length), count: Uint8Array.from(candidates, (each) => each.length),
    },
    candidates: {
      access: Uint32Array.from(flat, ({ id }) => place.get(id)!), positioning_ns: Float64Array.from(flat, cost),
      chosen: Uint8Array.from(candidates.flatMap((each) => each.map((_, index) => (index === 0 ? 1 : 0)))),
    },
    states: {
      station: Uint16Array.from(chosen.flatMap(() => [0, 0])), begin_ns: Float64Array.from(chosen.flatMap(({ at, waiting }) => [at, at + cost(waiting[0]!)])),
      end_ns: Float64Array.from(chosen.flatMap(({ at, waiting }) => [at + cost(waiting[0]!), at + cost(waiting[0]!) + ROW_NS])), state: Uint8Array.from(chosen.flatMap(() => [1, 2])),
    },
    residencies: [],
  };
}

/** Places at instants: in straight lines, in bits from the center. */
export function positions({ requests }: Toy, at_ns: readonly number[]): Positions {
  const served = requests.filter(({ start }) => Number.isFinite(start)).sort((one, other) => one.start - other.start);
  const x = new Float64Array(at_ns.length);
  const y = new Float64Array(at_ns.length);
  at_ns.forEach((t, index) => {
    const nth = served.findLastIndex(({ start }) => start <= t);
    const [now, before] = [served[nth], served[nth - 1]];
    const share = now ? Math.min(1, (t - now.start) / (now.end - now.start - ROW_NS)) : 0;
    const [column, row] = [before?.column ?? COLUMNS / 2, before?.row ?? 13];
    x[index] = column + ((now?.column ?? column) - column) * share - COLUMNS / 2;
    y[index] = (row + ((now?.row ?? row) - row) * share - ROWS / 2 + 0.5) * 90;
  });
  return { x, y };
}

/** All of its requests, in order of completion. */
export function rows({ requests }: Toy): Rows {
  const done = requests.toSorted((one, other) => one.end - other.end);
  const f64 = (value: (each: Request) => number) => Float64Array.from(done, value);
  const none = f64(() => 0);
  return {
    id: f64(({ id }) => id), arrival_ns: f64(({ queued }) => queued), start_ns: f64(({ start }) => start), completion_ns: f64(({ end }) => end),
    lbn: f64(({ column, row }) => column * 2700 + row * 100), blocks: f64(() => 8), op: Uint8Array.from(done, ({ write }) => (write ? 87 : 82)),
    overhead_ns: none, seek_x_ns: none, settle_ns: none, seek_y_ns: none, turnaround_ns: none, rotation_ns: none, positioning_ns: none, transfer_ns: none, startup_ns: none,
    device: new Float64Array(),
  };
}
