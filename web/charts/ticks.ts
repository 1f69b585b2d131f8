// Ticks of axes, by the same rules as `sledlab.show.ticks` in Python.

/** Fewest labels of an axis: two ends and a value between them show the scale. */
const MIN_TICKS = 3;

/** Multiples of a step of 1, 2 or 5 times a power of ten: at most `count`, but at least three. */
export function linearTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  let power = Math.ceil(Math.log10(high - low)) + 1;
  let ticks: number[] = [];
  for (; ; power--) {
    for (const digit of [5, 2, 1]) {
      const nextTicks = multiples(digit, power, low, high);
      if (ticks.length >= MIN_TICKS && nextTicks.length > count) return ticks;
      ticks = nextTicks;
    }
  }
}

function multiples(digit: number, power: number, low: number, high: number): number[] {
  const step = Number(`${digit}e${power}`);
  const tolerance = (high - low) * 1e-9;
  const first = Math.ceil((low - tolerance) / step);
  const last = Math.floor((high + tolerance) / step);
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * digit + `e${power}`)));
}

/** Powers of ten times 1, 2 and 5: at most `count`, but at least three; multiples of a step where there are too few of them. */
export function logTicks(low: number, high: number, count: number): number[] {
  if (!(high > low) || low <= 0) return [low];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const ticksWithin = (digits: readonly number[], stride: number) => {
    const ticks = [];
    for (let power = first; power <= last; power++) {
      if (power % stride === 0) for (const digit of digits) ticks.push(Number(`${digit}e${power}`));
    }
    return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
  };
  let ticks = ticksWithin([1, 2, 5], 1);
  if (ticks.length < MIN_TICKS) return linearTicks(low, high, count);
  for (let stride = 1; ticks.length > count; stride++) {
    const fewerTicks = ticksWithin([1], stride);
    if (fewerTicks.length < MIN_TICKS) break;
    ticks = fewerTicks;
  }
  return ticks;
}

/** Returns the largest value of 1, 2 or 5 times a power of ten that is at most `value`. */
export function roundDown(value: number): number {
  const power = Math.floor(Math.log10(value) + 1e-9);
  const digit = [5, 2, 1].find((each) => each * 10 ** power <= value * (1 + 1e-9)) ?? 1;
  return Number(`${digit}e${power}`);
}

/** Returns the smallest value of 1, 2 or 5 times a power of ten that is at least `value`. */
export function roundUp(value: number): number {
  const power = Math.floor(Math.log10(value) + 1e-9);
  const digit = [1, 2, 5].find((each) => each * 10 ** power >= value * (1 - 1e-9));
  return digit === undefined ? Number(`1e${power + 1}`) : Number(`${digit}e${power}`);
}

/** Returns a tick as text, without an exponent: 0.002, 50, 10,000. */
export function tickText(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 6 });
}
