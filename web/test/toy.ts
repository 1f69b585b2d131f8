// A toy of a core: a sled that moves in straight lines under SPTF, to test what the page makes of windows of time.

import type { Positions, Rows, WindowData } from "../core/types.ts";

export const COLUMNS = 2500;
export const ROWS = 27;
const SETTLE_NS = 215_000;
const ROW_NS = 129_000;

interface Request {
  id: number;
  queued_ns: number;
  start_ns: number;
  end_ns: number;
  column: number;
  row: number;
  isWrite: boolean;
  x_ns: number;
  y_ns: number;
}

export interface Toy {
  readonly requests: readonly Request[];
  readonly choices: readonly { readonly at_ns: number; readonly waiting: readonly Request[] }[];
}

/** Requests served one after the other, always the nearest. */
export function simulateToy(count: number, gap_ns = 620_000): Toy {
  let state = 7;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  let arrival_ns = 0;
  const requests: Request[] = Array.from({ length: count }, (_, id) => {
    arrival_ns += Math.round(-Math.log(1 - random()) * gap_ns);
    return { id, queued_ns: arrival_ns, start_ns: Infinity, end_ns: Infinity, column: Math.floor(random() * COLUMNS), row: Math.floor(random() * ROWS), isWrite: random() < 0.33, x_ns: 0, y_ns: 0 };
  });
  const choices: { at_ns: number; waiting: Request[] }[] = [];
  let [now_ns, column, row, nextIndex] = [0, COLUMNS / 2, 13, 0];
  const waiting: Request[] = [];
  for (let served = 0; served < count; served++) {
    if (waiting.length === 0) now_ns = Math.max(now_ns, requests[nextIndex]!.queued_ns);
    while (nextIndex < count && requests[nextIndex]!.queued_ns <= now_ns) waiting.push(requests[nextIndex++]!);
    for (const each of waiting) {
      each.x_ns = each.column === column ? 0 : 60_000 + Math.sqrt(Math.abs(each.column - column)) * 9_000;
      each.y_ns = 30_000 + Math.abs(each.row - row) * 11_000;
    }
    const positioningTime = (each: Request) => Math.max(each.x_ns ? each.x_ns + SETTLE_NS : 0, each.y_ns);
    waiting.sort((one, other) => positioningTime(one) - positioningTime(other) || one.id - other.id);
    choices.push({ at_ns: now_ns, waiting: waiting.map((each) => ({ ...each })) });
    const chosen = waiting.shift()!;
    [chosen.start_ns, chosen.end_ns] = [now_ns, now_ns + positioningTime(chosen) + ROW_NS];
    [now_ns, column, row] = [chosen.end_ns, chosen.column, chosen.row];
  }
  return { requests, choices };
}

/** Requests that arrive at equal distances and are served at once. */
export function evenToy(count: number, gap_ns: number): Toy {
  const requests = Array.from({ length: count }, (_, id) => ({
    id, queued_ns: id * gap_ns, start_ns: id * gap_ns, end_ns: (id + 1) * gap_ns, column: id % COLUMNS, row: 0, isWrite: false, x_ns: 0, y_ns: 0,
  }));
  return { requests, choices: requests.map((each) => ({ at_ns: each.start_ns, waiting: [each] })) };
}

/** The data of a window, as the core returns them. */
export function windowData({ requests, choices }: Toy, from_ns: number, accessCount: number, until_ns = 0): WindowData {
  const laterChoices = choices.filter(({ at_ns }) => at_ns >= from_ns);
  const chosen = laterChoices.slice(0, Math.max(accessCount, laterChoices.filter(({ at_ns }) => at_ns < until_ns).length + 1));
  const lastChoice_ns = chosen.at(-1)?.at_ns ?? Infinity;
  const nextChoice = choices.find(({ at_ns }) => at_ns > lastChoice_ns);
  const to_ns = nextChoice ? lastChoice_ns : Math.max(...requests.filter(({ end_ns }) => Number.isFinite(end_ns)).map(({ end_ns }) => end_ns));
  const rows = requests.filter(({ queued_ns, end_ns }) => queued_ns <= to_ns && end_ns > from_ns);
  const visibleRequests = rows.map((each) => (each.start_ns > to_ns ? { ...each, start_ns: Infinity, end_ns: Infinity } : each));
  const rowById = new Map(visibleRequests.map(({ id }, index) => [id, index]));
  const f64 = (value: (each: Request) => number) => Float64Array.from(visibleRequests, value);
  const candidates = chosen.map(({ waiting }) => waiting.slice(0, 8));
  const allCandidates = candidates.flat();
  const positioningTime = (each: Request) => Math.max(each.x_ns ? each.x_ns + SETTLE_NS : 0, each.y_ns);
  let firstRow = 0;
  return {
    from_ns: Math.min(from_ns, to_ns), to_ns, done: !nextChoice,
    accesses: {
      id: f64(({ id }) => id), station: Uint16Array.from(visibleRequests, () => 0), queued_ns: f64(({ queued_ns }) => queued_ns), start_ns: f64(({ start_ns }) => start_ns), end_ns: f64(({ end_ns }) => end_ns),
      lbn: f64(({ column, row }) => column * 2700 + row * 100), blocks: Uint32Array.from(visibleRequests, () => 8), op: Uint8Array.from(visibleRequests, ({ isWrite }) => (isWrite ? 87 : 82)),
      column: Uint32Array.from(visibleRequests, ({ column }) => column), row: Uint32Array.from(visibleRequests, ({ row }) => row), x_bit: Int32Array.from(visibleRequests, ({ column }) => column - COLUMNS / 2), y_bit: Int32Array.from(visibleRequests, ({ row }) => row * 90),
      turn: f64(() => 0), turns: f64(() => 0),
      overhead_ns: f64(() => 0), seek_x_ns: f64(({ x_ns }) => x_ns), settle_ns: f64(({ x_ns }) => (x_ns ? SETTLE_NS : 0)), seek_y_ns: f64(({ y_ns }) => y_ns * 0.8),
      turnaround_ns: f64(({ y_ns }) => y_ns * 0.2), rotation_ns: f64(() => 0), transfer_ns: f64(() => ROW_NS), startup_ns: f64(() => 0),
    },
    choices: {
      at_ns: Float64Array.from(chosen, ({ at_ns }) => at_ns), station: Uint16Array.from(chosen, () => 0), waiting: Uint32Array.from(chosen, ({ waiting }) => waiting.length),
      first: Uint32Array.from(candidates, (each) => (firstRow += each.length) - each.length), count: Uint8Array.from(candidates, (each) => each.length),
    },
    candidates: {
      access: Uint32Array.from(allCandidates, ({ id }) => rowById.get(id)!), positioning_ns: Float64Array.from(allCandidates, positioningTime),
      chosen: Uint8Array.from(candidates.flatMap((each) => each.map((_, index) => (index === 0 ? 1 : 0)))),
    },
    states: {
      station: Uint16Array.from(chosen.flatMap(() => [0, 0])), begin_ns: Float64Array.from(chosen.flatMap(({ at_ns, waiting }) => [at_ns, at_ns + positioningTime(waiting[0]!)])),
      end_ns: Float64Array.from(chosen.flatMap(({ at_ns, waiting }) => [at_ns + positioningTime(waiting[0]!), at_ns + positioningTime(waiting[0]!) + ROW_NS])), state: Uint8Array.from(chosen.flatMap(() => [1, 2])),
    },
    residencies: [],
  };
}

/** Places at instants: in straight lines, in bits from the center. */
export function positions({ requests }: Toy, at_ns: readonly number[]): Positions {
  const served = requests.filter(({ start_ns }) => Number.isFinite(start_ns)).sort((one, other) => one.start_ns - other.start_ns);
  const x = new Float64Array(at_ns.length);
  const y = new Float64Array(at_ns.length);
  at_ns.forEach((t, index) => {
    const nth = served.findLastIndex(({ start_ns }) => start_ns <= t);
    const [current, previous] = [served[nth], served[nth - 1]];
    const share = current ? Math.min(1, (t - current.start_ns) / (current.end_ns - current.start_ns - ROW_NS)) : 0;
    const [column, row] = [previous?.column ?? COLUMNS / 2, previous?.row ?? 13];
    x[index] = column + ((current?.column ?? column) - column) * share - COLUMNS / 2;
    y[index] = (row + ((current?.row ?? row) - row) * share - ROWS / 2 + 0.5) * 90;
  });
  return { x, y };
}

/** All of its requests, in order of completion. */
export function rows({ requests }: Toy): Rows {
  const completed = requests.toSorted((one, other) => one.end_ns - other.end_ns);
  const f64 = (value: (each: Request) => number) => Float64Array.from(completed, value);
  const zeros = f64(() => 0);
  return {
    id: f64(({ id }) => id), arrival_ns: f64(({ queued_ns }) => queued_ns), start_ns: f64(({ start_ns }) => start_ns), completion_ns: f64(({ end_ns }) => end_ns),
    lbn: f64(({ column, row }) => column * 2700 + row * 100), blocks: f64(() => 8), op: Uint8Array.from(completed, ({ isWrite }) => (isWrite ? 87 : 82)),
    overhead_ns: zeros, seek_x_ns: zeros, settle_ns: zeros, seek_y_ns: zeros, turnaround_ns: zeros, rotation_ns: zeros, positioning_ns: zeros, transfer_ns: zeros, startup_ns: zeros,
    device: new Float64Array(),
  };
}
