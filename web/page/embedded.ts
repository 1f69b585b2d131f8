// What `sledlab view` has embedded in the page: an experiment and its traces.

import { decoded } from "./engine.ts";

export interface Embedded {
  /** The text of the experiment. */
  readonly experiment: string;
  /** The name of the experiment. */
  readonly name: string;
  /** The trace files that the experiment names, as base64. */
  readonly traces: readonly { readonly name: string; readonly data: string }[];
  /** Where watching begins. */
  readonly around?: "start" | "slowest";
}

/** The embedded experiment; null where the page was opened without one. */
export function embedded(): Embedded | null {
  return JSON.parse(document.getElementById("given")?.textContent ?? "null") as Embedded | null;
}

/** The bytes of the embedded traces, by name. */
export function tracesOf(found: Embedded | null): Map<string, Uint8Array> {
  return new Map((found?.traces ?? []).map(({ name, data }) => [name, decoded(data)]));
}
