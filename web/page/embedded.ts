// What `sledlab view` has embedded in the page: an experiment and its traces.

import { decodeBase64 } from "./engine.ts";

export interface EmbeddedInput {
  /** The text of the experiment. */
  readonly experiment: string;
  /** The name of the experiment. */
  readonly name: string;
  /** The trace files that the experiment names, as base64. */
  readonly traces: readonly { readonly name: string; readonly data: string }[];
  /** Where watching begins; a number is that of a request. */
  readonly around?: "start" | "slowest" | number;
}

/** The embedded experiment; null where the page was opened without one. */
export function readEmbedded(): EmbeddedInput | null {
  return JSON.parse(document.getElementById("given")?.textContent ?? "null") as EmbeddedInput | null;
}

/** The bytes of the embedded traces, by name. */
export function decodeTraces(input: EmbeddedInput | null): Map<string, Uint8Array> {
  return new Map((input?.traces ?? []).map(({ name, data }) => [name, decodeBase64(data)]));
}
