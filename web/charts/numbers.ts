// Numbers of panels: as packed by `sledlab.show.series`, and as text.

import type { Packed, Positions } from "./panel.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Returns a number with four significant digits: 0.4123, 12.3, 1,234. */
export function formatNumber(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
}

/** Splits the label of an axis into its words and its unit. */
export function splitUnit(label: string): [string, string] {
  const match = /^(.*) \(([^()]*)\)$/.exec(label);
  return match ? [match[1]!, match[2]!] : [label, ""];
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Returns the numbers of a list, or of a text with three letters for each (`_packed` in series.py). */
export function unpack(packed: Packed | undefined): (number | null)[] {
  if (packed === undefined) return [];
  if (typeof packed !== "string") return [...packed];
  return (packed.match(/.../g) ?? []).map((letters) => {
    const code = [...letters].reduce((sum, letter) => sum * 64 + DIGITS.indexOf(letter), 0) - 2;
    return code === -2 ? null : code === -1 ? 0 : Number(`${(code % 9000) + 1000}e${Math.floor(code / 9000) - 17}`);
  });
}

/** Returns the shares of a distribution in percent. */
export function unpackShares(values: Packed, lowerCount = 0): (number | null)[] {
  return unpack(values).map((value, index) => (index < lowerCount || value === null ? value : Number((100 - value).toPrecision(9))));
}

/** Returns the places of values without a neighbor; null where there are none. */
export function isolatedIndexes(values: ArrayLike<number | null | undefined>): number[] | null {
  const isMissing = (index: number) => values[index] === null || values[index] === undefined;
  const indexes = Array.from(values, (_, index) => index).filter((index) => !isMissing(index) && isMissing(index - 1) && isMissing(index + 1));
  return indexes.length > 0 ? indexes : null;
}

/** Returns positions on an axis, given as a list or by the first, their distance and their number. */
export function unpackPositions(x: Positions | undefined): number[] {
  if (x === undefined) return [];
  return "count" in x ? Array.from({ length: x.count }, (_, index) => x.first + index * x.step) : [...x];
}
