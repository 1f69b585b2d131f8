/** Runs in a web worker: owns a core and answers messages in order. */

import { Core, CoreError } from "./core.js";
import type { ErrorDetails } from "./types.js";

export interface WorkerRequest {
  id: number;
  /** A method of `Core`, or `load`. */
  method: string;
  args: unknown[];
}

export interface WorkerReply {
  id: number;
  value?: unknown;
  error?: ErrorDetails;
}

let core: Core | undefined;

/** Resolves when the module is loaded; earlier requests wait for it. */
let ready: Promise<void> | undefined;

self.onmessage = async (event: MessageEvent<WorkerRequest>) => {
  const { id, method, args } = event.data;
  if (method !== "load") await ready;
  try {
    if (method === "load") await (ready = load(args[0] as BufferSource));
    const value = method === "load" ? undefined : invoke(method, args);
    const reply: WorkerReply = { id, value };
    (self as unknown as Worker).postMessage(reply, transferables(value));
  } catch (error) {
    (self as unknown as Worker).postMessage({ id, error: errorDetails(error) } satisfies WorkerReply);
  }
};

async function load(wasm: BufferSource | WebAssembly.Module): Promise<void> {
  core = await Core.load(wasm);
}

function invoke(method: string, args: unknown[]): unknown {
  const target = (core as unknown as Record<string, (...args: unknown[]) => unknown>)[method];
  if (!target) throw new Error(`the core has no call ${method}`);
  return target.apply(core, args);
}

function errorDetails(error: unknown): ErrorDetails {
  return error instanceof CoreError ? error.details : { blame: "core", message: String(error) };
}

/** Buffers of typed arrays in an answer: handed over, not copied. */
function transferables(value: unknown, buffers: ArrayBuffer[] = []): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) buffers.push(value.buffer as ArrayBuffer);
  else if (value && typeof value === "object") Object.values(value).forEach((inner) => transferables(inner, buffers));
  return buffers;
}
