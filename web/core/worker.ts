/** Runs in a web worker: owns a core and answers messages in order. */

import { Core, CoreError } from "./core.js";
import type { Mistake } from "./types.js";

export interface WorkerRequest {
  id: number;
  /** A method of `Core`, or `load`. */
  method: string;
  given: unknown[];
}

export interface WorkerReply {
  id: number;
  value?: unknown;
  mistake?: Mistake;
}

let core: Core | undefined;

/** Resolves when the module is loaded; earlier requests wait for it. */
let ready: Promise<void> | undefined;

self.onmessage = async (event: MessageEvent<WorkerRequest>) => {
  const { id, method, given } = event.data;
  if (method !== "load") await ready;
  try {
    if (method === "load") await (ready = load(given[0] as BufferSource));
    const value = method === "load" ? undefined : ask(method, given);
    const reply: WorkerReply = { id, value };
    (self as unknown as Worker).postMessage(reply, buffers(value));
  } catch (error) {
    (self as unknown as Worker).postMessage({ id, mistake: mistaken(error) } satisfies WorkerReply);
  }
};

async function load(wasm: BufferSource | WebAssembly.Module): Promise<void> {
  core = await Core.load(wasm);
}

function ask(method: string, given: unknown[]): unknown {
  const called = (core as unknown as Record<string, (...given: unknown[]) => unknown>)[method];
  if (!called) throw new Error(`the core has no call ${method}`);
  return called.apply(core, given);
}

function mistaken(error: unknown): Mistake {
  return error instanceof CoreError ? error.mistake : { blame: "core", message: String(error) };
}

/** Buffers of typed arrays in an answer: handed over, not copied. */
function buffers(value: unknown, found: ArrayBuffer[] = []): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) found.push(value.buffer as ArrayBuffer);
  else if (value && typeof value === "object") Object.values(value).forEach((inner) => buffers(inner, found));
  return found;
}
