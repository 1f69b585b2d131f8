// What the page was made with: the experiment of `sledlab view`, and its trace.

import { decoded } from "./engine.ts";

export interface Given {
  /** The text of the experiment. */
  readonly experiment: string;
  /** What it is called. */
  readonly name: string;
  /** Files it names, as base64. */
  readonly traces: readonly { readonly name: string; readonly data: string }[];
  /** Where to begin. */
  readonly around?: "start" | "slowest";
}

export function given(): Given | null {
  return JSON.parse(document.getElementById("given")?.textContent ?? "null") as Given | null;
}

/** The bytes of its traces, by name. */
export function tracesOf(found: Given | null): Map<string, Uint8Array> {
  return new Map((found?.traces ?? []).map(({ name, data }) => [name, decoded(data)]));
}
