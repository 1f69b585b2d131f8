// The core in workers: unpacked and compiled once, shared by all workers; each run has a worker.

import WORKER from "sledlab:worker";
import { CoreError } from "../core/core.ts";
import { startLaboratory, type Laboratory } from "../core/laboratory.ts";
import { shorten } from "./format.ts";

let modulePromise: Promise<WebAssembly.Module> | undefined;
const spareWorkers: Promise<Laboratory>[] = [];

/** Starts workers that `takeWorker` returns later, in parallel with other work for the first picture. */
export function startSpareWorkers(count: number): void {
  for (let index = 0; index < count; index++) spareWorkers.push(startWorker());
}

/** A worker with a core of its own, which holds these traces. */
export async function takeWorker(traces: ReadonlyMap<string, Uint8Array> = new Map()): Promise<Laboratory> {
  const core = await (spareWorkers.shift() ?? startWorker());
  for (const [name, bytes] of traces) await core.putTrace(name, bytes);
  return core;
}

async function startWorker(): Promise<Laboratory> {
  modulePromise ??= unpack(document.getElementById("core")?.textContent ?? "");
  return startLaboratory(WORKER, await modulePromise);
}

function unpack(base64: string): Promise<WebAssembly.Module> {
  const wasm = new Blob([decodeBase64(base64) as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(wasm, { headers: { "content-type": "application/wasm" } }));
}

/** The bytes of a base64 text. */
export function decodeBase64(base64: string): Uint8Array {
  const decoder = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };
  if (decoder.fromBase64) return decoder.fromBase64(base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = letters.charCodeAt(index);
  return bytes;
}

/** Whether the error says that the core has stopped. Another core was started then, without the runs and traces of this one. */
export function isTrap(error: unknown): boolean {
  return error instanceof CoreError && error.details.blame === "trap";
}

/** The message of an error, for readers. */
export function errorText(error: unknown): string {
  if (!(error instanceof CoreError)) return error instanceof Error ? error.message : String(error);
  const { message, remedy, place } = error.details;
  const placeText = place && place.line > 0 ? `${shorten(place.file)}, line ${place.line}${place.column ? `, column ${place.column}` : ""}: ` : "";
  const text = place?.text ? `\n${shorten(place.text, 120)}` : "";
  const prefix = isTrap(error) ? "The simulator stopped and was started anew. " : "";
  return `${prefix}${placeText}${message}${text}${remedy ? `\n${remedy}` : ""}`;
}
