/**
 * What crosses the border to the core. Times are nanoseconds of simulated time in numbers (exact up to 104 days) unless a
 * name says otherwise; columns are typed arrays, one value a row.
 */

/** An error of the core: message, location and remedy. Names and texts in it come from users: show them as text. */
export interface ErrorDetails {
  /** `user`: can be mended by the user; `core`: a defect; the worker has started anew after a `trap`. */
  blame: "user" | "core" | "trap";
  message: string;
  remedy?: string;
  /** Where in a trace or an experiment; line and column count from 1, 0 where unknown. */
  place?: { file: string; line: number; column: number; text: string };
}

/** A parameter, declared once in the core. */
export interface Parameter {
  name: string;
  meaning: string;
  /** Empty where there is none. */
  unit?: string;
  default: string | number | boolean | null;
  /** Least and largest value. */
  range?: [number, number] | null;
  [more: string]: unknown;
}

/** Something that can be named in an experiment. */
export interface Entry {
  name: string;
  meaning: string;
  /** Other names of a scheduler. */
  aliases?: readonly string[];
  parameters?: Parameter[];
  [more: string]: unknown;
}

/** Everything that can be named; the same as `sledlab --json list` and Python see. `presets` are device files by name. */
export interface Catalog {
  devices: Entry[];
  device_kinds: Entry[];
  schedulers: Entry[];
  power_policies: Entry[];
  replacement_policies: Entry[];
  hybrids: Entry[];
  workloads: Entry[];
  trace_formats: Entry[];
  systems: Entry[];
  caches: Entry[];
  merges: Entry[];
  presets: Record<string, string>;
  version: string;
  [more: string]: unknown;
}

/** A device, resolved. */
export interface DeviceFacts {
  /** mems, disk, ssd, ram ... */
  kind: string;
  name: string;
  /** The complete device file: what `device.toml` holds. */
  toml: string;
  /** Every parameter. */
  parameters: Record<string, unknown>;
  capacity_blocks: number;
  /** Cylinders and rows as schedulers see them. */
  columns: number;
  rows: number;
  blocks_per_track: number;
  parallel_blocks: number;
  /** Between random places, settling and turnarounds included, and the longest met, edge to edge included; no rotation. */
  mean_seek_ms: number;
  longest_seek_ms: number;
  /** Sequential reading, 10^6 bytes per second. */
  bandwidth_mb_s: number;
  /** Of a MEMS sled only. */
  sled?: SledFacts;
}

export interface SledFacts {
  tips: number;
  active_tips: number;
  bit_nm: number;
  /** Reach in bits from the center, least and largest. */
  x_bits: [number, number];
  y_bits: [number, number];
  velocity_mm_s: number;
  settle_ms: number;
}

/** Positioning times from one state to all places: `ms[row * columns + column]`. */
export interface SeekMap {
  columns: number;
  rows: number;
  x_bit: Float64Array;
  y_bit: Float64Array;
  ms: Float64Array;
  next_column_ms: number;
  full_stroke_ms: number;
}

/** Where a mechanism is: bits from the center of a sled, and the direction along y. */
export interface Place {
  x: number;
  y: number;
  direction: 1 | -1;
}

/** What is known of a trace in memory. */
export interface TraceFacts {
  name: string;
  format: string;
  /** Operations of all kinds. */
  requests: number;
  /** Devices that it names. */
  devices: number;
  /** Arrival of the last. */
  last_ns: number;
  /** First block after the highest request. */
  highest_end: number;
}

export interface RunDescription {
  run: number;
  /** The complete experiment: every default filled in. */
  toml: string;
  /** One for each device in the system. */
  stations: Station[];
  capacity_blocks: number;
}

export interface Station {
  /** Kind of its device. */
  kind: string;
  /** What it is in the system, such as `mems-g2`. */
  name: string;
  columns: number;
  rows: number;
  /** The complete device file, of a MEMS device. */
  toml: string;
  sled: SledFacts | null;
  /** How long a turn takes, where something turns: its index mark is under the head at time 0. */
  turn_ns: number | null;
}

export interface Progress {
  done: boolean;
  /** Operations issued. */
  operations: number;
  /** Reads and writes completed. */
  completed: number;
  /** Completed share of the run, where known. */
  fraction: number | null;
  /** Simulated time since the beginning of the run, warm-up included. */
  simulated_ns: number;
  waiting: number;
}

/** Statistics of a run that may not have ended; times are null before the first completion that counts. */
export interface Snapshot extends Progress {
  mean_ms: number | null;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
  max_ms: number | null;
  /** Energy since the end of the warm-up; null before it. */
  energy_j: number | null;
  /** The distribution so far. */
  response_ms: Float64Array;
  share: Float64Array;
}

/** `Outcome` of the core as JSON, the same as natively: summary, cdf, timeline. */
export interface Outcome {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  summary: Record<string, any> & { readonly saturated: boolean; readonly checksum: string };
  cdf: { response_ms: number[]; share: number[] }[];
  timeline: Record<string, number | null>[];
}

/** Completed requests in order of completion, those of the warm-up included. */
export interface Rows {
  id: Float64Array;
  arrival_ns: Float64Array;
  start_ns: Float64Array;
  completion_ns: Float64Array;
  lbn: Float64Array;
  blocks: Float64Array;
  /** 82 read, 87 write: the letters R and W. */
  op: Uint8Array;
  overhead_ns: Float64Array;
  seek_x_ns: Float64Array;
  settle_ns: Float64Array;
  seek_y_ns: Float64Array;
  turnaround_ns: Float64Array;
  rotation_ns: Float64Array;
  positioning_ns: Float64Array;
  transfer_ns: Float64Array;
  startup_ns: Float64Array;
  /** Of systems of several: which device; -1 where a cache answered. Empty elsewhere. */
  device: Float64Array;
}

/**
 * What stations did in a window of time, in full: enough to draw any moment of it.
 *
 * Accesses are what a station served or still holds at the end of the window, in order of `queued_ns`; those that already waited
 * when it began are among them. At time t those wait for which `queued_ns <= t < start_ns`.
 */
export interface WindowData {
  from_ns: number;
  /** The last choice in it: the next window begins there. */
  to_ns: number;
  /** Whether the run ends in it. */
  done: boolean;
  accesses: {
    /** Of the host's request, or of the system's own work: unique in a station. */
    id: Float64Array;
    station: Uint16Array;
    queued_ns: Float64Array;
    /** Infinity where it has not come to that in the window. */
    start_ns: Float64Array;
    end_ns: Float64Array;
    lbn: Float64Array;
    blocks: Uint32Array;
    op: Uint8Array;
    /** Cylinder and row of the first block; their middle in bits from the center of a sled. */
    column: Uint32Array;
    row: Uint32Array;
    x_bit: Int32Array;
    y_bit: Int32Array;
    /** On a device that turns: where the first block begins, and how far its blocks reach on that track, in turns from the index mark. */
    turn: Float64Array;
    turns: Float64Array;
    overhead_ns: Float64Array;
    seek_x_ns: Float64Array;
    settle_ns: Float64Array;
    seek_y_ns: Float64Array;
    turnaround_ns: Float64Array;
    rotation_ns: Float64Array;
    transfer_ns: Float64Array;
    startup_ns: Float64Array;
  };
  /** In order of time; the first may precede the window: it gives the state at the start of the window. */
  choices: {
    at_ns: Float64Array;
    station: Uint16Array;
    /** Requests from which it was chosen, the chosen among them. */
    waiting: Uint32Array;
    /** Its candidates are rows `first` to `first + count` of `candidates`: the chosen one, then at most 7 others by positioning time,
     * then the request that has waited longest, unless it is among them. */
    first: Uint32Array;
    count: Uint8Array;
  };
  candidates: {
    /** Row of `accesses`. */
    access: Uint32Array;
    /** Positioning time that the scheduler expects: without the buffer of a drive, and by the estimate of the device if it has one. */
    positioning_ns: Float64Array;
    /** 1 for what was chosen; a pass of the sled may serve several. */
    chosen: Uint8Array;
  };
  states: {
    station: Uint16Array;
    begin_ns: Float64Array;
    end_ns: Float64Array;
    /** See `STATION_STATES`. */
    state: Uint8Array;
  };
  /** The cache before all devices, if there is one, and the front of every hybrid. */
  residencies: Residency[];
}

/** What a cache or the front of a hybrid holds, in samples: each holds until the next; the first may lie before the window. */
export interface Residency {
  /** The first station of its hybrid; null of a cache before all of them. */
  station: number | null;
  /** What its slots hold: segment, log or line. */
  unit: string;
  slot_blocks: number;
  /** Whether a slot is a place; otherwise slots are listed in order of the blocks they hold, and free slots come last. */
  has_places: boolean;
  since_ns: Float64Array;
  /** Slots in each of the states `SLOT_STATES`, as many values a sample as there are states. */
  counts: Uint32Array;
  /** Write-behind: writes to the backing device that are ready, and those in flight. */
  waiting: Uint32Array;
  writing: Uint32Array;
  /** State of every slot at the first sample. */
  first: Uint8Array;
  /** Row of `slot` and `state` where the changes of each sample begin. */
  changes: Uint32Array;
  slot: Uint32Array;
  state: Uint8Array;
}

export const SLOT_STATES = ["free", "clean", "dirty", "filling", "destaging"] as const;

export const STATION_STATES = ["idle", "seek", "access", "parked", "start-up"] as const;

/** Positions of a mechanism at the requested times: bits from the center of a sled; cylinder and head of a disk. */
export interface Positions {
  x: Float64Array;
  y: Float64Array;
}

/** What came of a replay of a work record: the same JSON as natively. */
export interface ClusterOutcome {
  elapsed_ns: number;
  phases: { name: string; nodes: { compute_ns: number; store_ns: number; network_ns: number; waiting_ns: number }[] }[];
  [more: string]: unknown;
}
