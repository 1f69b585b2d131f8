// Numbers as people read them. Times are in nanoseconds unless a name says otherwise.

const DIGITS = 3;

/** Three significant digits without an exponent: 0.412, 1.50, 12.3, 1,234; a dash for a missing value. */
export function formatNumber(value: number | null, digits = DIGITS): string {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(digits));
  const decimals = Math.max(0, Math.min(digits + 3, digits - 1 - Math.floor(Math.log10(Math.abs(rounded)))));
  return Number(value.toFixed(decimals)).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

const UNITS: readonly (readonly [number, string])[] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** A span of time with a unit that suits its length. */
export function formatDuration(ns: number): string {
  if (ns === 0) return "0";
  const [unit_ns, unit] = UNITS.find(([each]) => Math.abs(ns) >= each) ?? [1, "ns"];
  return `${formatNumber(ns / unit_ns)} ${unit}`;
}

/** A span of time in ms, for spans below each other in a table. */
export function formatMs(ns: number): string {
  return (ns / 1e6).toFixed(3);
}

/** An instant, in seconds: 43.309495 s. */
export function formatTime(ns: number): string {
  return `${(ns / 1e9).toFixed(6)} s`;
}

/** A unit from a catalog as people write it: µm, m/s². */
export function formatUnit(name: string): string {
  return name.replace(/^u(?=[ms]\b)/, "µ").replace(/2$/, "²");
}

/** Bytes of an operation or a buffer, in powers of 1024: 8 KB, 1 MiB. */
export function formatBytes(count: number): string {
  return scaledBytes(count, 1024, ["B", "KB", "MiB", "GiB", "TiB"]);
}

/** Bytes of a device or a file, in powers of 1000, as `sledlab show device` has them: 3.46 GB. */
export function formatCapacity(count: number): string {
  return scaledBytes(count, 1000, ["B", "kB", "MB", "GB", "TB"]);
}

function scaledBytes(count: number, base: number, unitNames: readonly string[]): string {
  let [value, level] = [count, 0];
  for (; value >= base && level < unitNames.length - 1; level++) value /= base;
  return `${Number.isInteger(value) ? value : formatNumber(value)} ${unitNames[level]}`;
}

/** A count with its noun: 1 request, 2 requests. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A text from a file, cut so that it can be shown. */
export function shorten(text: string, maxLength = 60): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}]/gu, "\uFFFD");
  return visible.length <= maxLength ? visible : `${visible.slice(0, maxLength - 1)}…`;
}
