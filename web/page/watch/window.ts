// A window of time of a run, and the state of the run at every instant of the window.

import type { WindowData } from "../../core/types.ts";
import { ResidencySamples } from "./residency.ts";

/** A choice of a scheduler: when, from how many waiting requests, and the candidates considered. */
export interface Choice {
  readonly index: number;
  readonly at_ns: number;
  readonly station: number;
  readonly waiting: number;
  readonly candidates: readonly Candidate[];
}

/** A request that could be chosen; `access` is its row in the window. */
export interface Candidate {
  readonly access: number;
  readonly positioning_ns: number;
  readonly isChosen: boolean;
}

export class Window {
  /** The residencies of caches and of the fronts of hybrids. */
  readonly residencies: readonly ResidencySamples[];
  /** By station: rows of accesses that began, in order of their start. */
  private readonly startedRows: readonly (readonly number[])[];
  private readonly rowOfId = new Map<number, number>();
  private readonly waitingCache: { from_ns: number; until_ns: number; rows: readonly number[] }[] = [];

  constructor(readonly data: WindowData, private readonly stationCount: number) {
    const { accesses, residencies } = data;
    this.residencies = residencies.map((each) => new ResidencySamples(each));
    const startedRows: number[][] = Array.from({ length: stationCount }, () => []);
    accesses.start_ns.forEach((start, row) => {
      this.rowOfId.set(accesses.id[row]! * stationCount + accesses.station[row]!, row);
      if (Number.isFinite(start)) startedRows[accesses.station[row]!]?.push(row);
    });
    startedRows.forEach((rows) => rows.sort((one, other) => accesses.start_ns[one]! - accesses.start_ns[other]!));
    this.startedRows = startedRows;
  }

  get from_ns(): number {
    return this.data.from_ns;
  }

  get to_ns(): number {
    return this.data.to_ns;
  }

  contains(t: number): boolean {
    return t >= this.from_ns && t <= this.to_ns;
  }

  /** Rows of the requests that wait at a station, in order of arrival. The array is kept until a request arrives or is chosen. */
  waitingRows(t: number, station: number): readonly number[] {
    const cached = this.waitingCache[station];
    if (cached && t >= cached.from_ns && t < cached.until_ns) return cached.rows;
    const { queued_ns, start_ns, station: stationColumn } = this.data.accesses;
    const rows: number[] = [];
    let until_ns = Infinity;
    for (let row = 0; row < queued_ns.length; row++) {
      if (stationColumn[row] !== station) continue;
      if (queued_ns[row]! > t) {
        until_ns = Math.min(until_ns, queued_ns[row]!);
        break;
      }
      if (start_ns[row]! <= t) continue;
      rows.push(row);
      until_ns = Math.min(until_ns, start_ns[row]!);
    }
    this.waitingCache[station] = { from_ns: t, until_ns, rows };
    return rows;
  }

  /** The row of the access that began last, if any. */
  lastStartedRow(t: number, station: number): number | null {
    const rows = this.startedRows[station] ?? [];
    const { start_ns } = this.data.accesses;
    const firstAfter = partitionPoint(rows.length, (index) => start_ns[rows[index]!]! > t);
    return firstAfter > 0 ? rows[firstAfter - 1]! : null;
  }

  /** Rows of the last accesses that began before an instant, the latest last. */
  trail(t: number, station: number, maxRows: number): readonly number[] {
    const rows = this.startedRows[station] ?? [];
    const { start_ns } = this.data.accesses;
    const firstAfter = partitionPoint(rows.length, (index) => start_ns[rows[index]!]! > t);
    return rows.slice(Math.max(0, firstAfter - maxRows), firstAfter);
  }

  /** The row of a request at a station. */
  row(id: number, station: number): number | undefined {
    return this.rowOfId.get(id * this.stationCount + station);
  }

  /** The last choice up to an instant, by any station or by one. */
  choice(t: number, station?: number): Choice | null {
    const { at_ns, station: stationColumn } = this.data.choices;
    for (let index = partitionPoint(at_ns.length, (choice) => at_ns[choice]! > t) - 1; index >= 0; index--) {
      if (station === undefined || stationColumn[index] === station) return this.getChoice(index);
    }
    return null;
  }

  /** The instant of the choice `steps` further on, or back where `steps` is negative; null outside of the window. */
  step(t: number, steps: number): number | null {
    const { at_ns } = this.data.choices;
    const firstAfter = partitionPoint(at_ns.length, (index) => at_ns[index]! > t);
    const firstFrom = partitionPoint(at_ns.length, (index) => at_ns[index]! >= t);
    const index = steps > 0 ? firstAfter + steps - 1 : firstFrom + steps;
    const time_ns = at_ns[index] ?? NaN;
    return time_ns >= this.from_ns && time_ns <= this.to_ns ? time_ns : null;
  }

  /** Number of choices after an instant. */
  choicesAfter(t: number): number {
    const { at_ns } = this.data.choices;
    return at_ns.length - partitionPoint(at_ns.length, (index) => at_ns[index]! > t);
  }

  private getChoice(index: number): Choice {
    const { choices, candidates } = this.data;
    const [first, count] = [choices.first[index]!, choices.count[index]!];
    return {
      index,
      at_ns: choices.at_ns[index]!,
      station: choices.station[index]!,
      waiting: choices.waiting[index]!,
      candidates: Array.from({ length: count }, (_, nth) => ({
        access: candidates.access[first + nth]!,
        positioning_ns: candidates.positioning_ns[first + nth]!,
        isChosen: candidates.chosen[first + nth] === 1,
      })),
    };
  }
}

/** The first of `count` indices for which `predicate` is true, given that it is true for all later ones; `count` if for none. */
export function partitionPoint(count: number, predicate: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (predicate(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
