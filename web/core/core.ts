/** The core in this thread: every call blocks until it has its answer, and throws a `CoreError`. */

import type {
  Catalog, ClusterOutcome, DeviceFacts, Snapshot, ErrorDetails, RunDescription, Outcome, Place, Positions, Progress, Rows, SeekMap, TraceFacts, WindowData,
} from "./types.js";

export * from "./types.js";

interface Exports {
  memory: WebAssembly.Memory;
  /** Allocates the buffer of the next call; returns its address. */
  allocate(bytes: number): number;
  /** Executes the call in the buffer: so many raw bytes, then JSON. Returns 0, or 1 with an error as answer. */
  call(bytes: number): number;
  answer(): number;
  answer_bytes(): number;
  /** Where the message of the last panic is, and its length in bytes. */
  panic(): number;
  panic_bytes(): number;
}

export class CoreError extends Error {
  constructor(readonly details: ErrorDetails) {
    super(details.message);
    this.name = "CoreError";
  }
}

const OUT_OF_MEMORY: ErrorDetails = {
  blame: "trap", message: "This needs more memory than a page can have.", remedy: "Ask for less, or use the command line.",
};

type Column = "f64" | "u32" | "i32" | "u16" | "u8";
const COLUMN_TYPES = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array };

export class Core {
  private constructor(private readonly exports: Exports) {}

  static async load(wasm: BufferSource | WebAssembly.Module): Promise<Core> {
    const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
    const instance = await WebAssembly.instantiate(module, {});
    return new Core(instance.exports as unknown as Exports);
  }

  /** Everything that can be named in an experiment. */
  catalog(): Catalog {
    return this.call({ call: "catalog" });
  }

  /** The device of an experiment text, which needs to say nothing but `[device]`; a few hundred microseconds. */
  device(toml: string): DeviceFacts {
    return this.call({ call: "device", toml });
  }

  /** Positioning times from `from`, or from where runs begin. */
  seekMap(toml: string, from?: Place): SeekMap {
    return this.call({ call: "seek_map", toml, place: from ?? null });
  }

  /** Keeps a file in memory: `trace.file = name` of an experiment reads it from now on. */
  putTrace(name: string, bytes: Uint8Array): TraceFacts {
    return this.call({ call: "put_trace", name }, bytes);
  }

  dropTrace(name: string): void {
    this.call({ call: "drop_trace", name });
  }

  /**
   * Resolves and checks an experiment, and builds its system with nothing done yet. `name` stands in messages; `settings` are keys
   * with values that replace those of the text, as `--set` does.
   */
  open(toml: string, name = "experiment", settings: readonly (readonly [string, string])[] = []): RunDescription {
    return this.call({ call: "open", toml, name, settings });
  }

  /** Replays a work record on a cluster, in one go; `settings` as of `open`. */
  replay(toml: string, record: Uint8Array, settings: readonly (readonly [string, string])[] = []): ClusterOutcome {
    return this.call({ call: "replay", toml, name: "experiment", settings }, record);
  }

  /** Forgets a run, where the core has it. */
  close(run: number): void {
    this.call({ call: "close", run });
  }

  /** Continues the run for about `operationCount` operations. */
  run(run: number, operationCount: number): Progress {
    return this.call({ call: "run", run, operations: operationCount });
  }

  snapshot(run: number): Snapshot {
    return this.call({ call: "snapshot", run });
  }

  /** What came of a run that is done: the same JSON as natively. */
  outcome(run: number): Outcome {
    return this.call({ call: "outcome", run });
  }

  /** The checksum of all completion times so far, 16 hexadecimal digits: what `sledlab simulate` prints. */
  checksum(run: number): string {
    return this.call({ call: "checksum", run });
  }

  /** Completed requests, those of the warm-up included. Columns other than these are empty, unless none is named. The experiment is run again for them. */
  rows(run: number, columns: readonly (keyof Rows)[] = []): Rows {
    return this.call({ call: "rows", run, columns });
  }

  /**
   * Events from `from_ns` on, until the scheduler has chosen `requestCount` accesses and the window contains `until_ns`. A
   * second run of the same experiment produces them: a later window continues it, an earlier window restarts it.
   */
  watch(run: number, from_ns: number, requestCount: number, until_ns = 0): WindowData {
    return this.call({ call: "watch", run, from_ns, requests: requestCount, until_ns });
  }

  /** Places of a station's mechanism at instants of the window watched last. */
  positions(run: number, station: number, at_ns: ArrayLike<number>): Positions {
    return this.call({ call: "positions", run, station, at_ns: Array.from(at_ns) });
  }

  private call<T>(request: object, bytes: Uint8Array = new Uint8Array()): T {
    const json = new TextEncoder().encode(JSON.stringify(request));
    let status: number;
    try {
      const address = this.exports.allocate(bytes.length + json.length);
      const buffer = new Uint8Array(this.exports.memory.buffer, address, bytes.length + json.length);
      buffer.set(bytes);
      buffer.set(json, bytes.length);
      status = this.exports.call(bytes.length);
    } catch (trap) {
      throw new CoreError(this.trapDetails(trap));
    }
    const answer = new Uint8Array(this.exports.memory.buffer, this.exports.answer(), this.exports.answer_bytes());
    if (status) throw new CoreError(JSON.parse(new TextDecoder().decode(answer)) as ErrorDetails);
    return decode(answer) as T;
  }

  private trapDetails(trap: unknown): ErrorDetails {
    const messageBytes = new Uint8Array(this.exports.memory.buffer, this.exports.panic(), this.exports.panic_bytes());
    const message = new TextDecoder().decode(messageBytes);
    // A failed allocation traps without a panic; a size beyond the address space panics with these words.
    const isOutOfMemory = message === "" && trap instanceof WebAssembly.RuntimeError && /unreachable/.test(trap.message);
    return isOutOfMemory || message.endsWith("capacity overflow") ? OUT_OF_MEMORY : { blame: "trap", message: message || String(trap) };
  }
}

/** An answer: the length of a JSON text, that text, and behind it columns, each at a multiple of 8 bytes. */
function decode(answer: Uint8Array): unknown {
  const jsonLength = new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
  const json = new TextDecoder().decode(answer.subarray(8, 8 + jsonLength));
  const columnsStart = Math.ceil((8 + jsonLength) / 8) * 8;
  return JSON.parse(json, (_, value: unknown) => {
    const column = value as { $column?: [Column, number, number] } | null;
    if (typeof column !== "object" || !column?.$column) return value;
    const [type, offset, length] = column.$column;
    const start = columnsStart + offset;
    // A copy: memory of the module moves when it grows.
    return new COLUMN_TYPES[type](answer.slice(start, start + length * COLUMN_TYPES[type].BYTES_PER_ELEMENT).buffer);
  });
}
