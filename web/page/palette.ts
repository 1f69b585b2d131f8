// Colors: Okabe and Ito (2008) for kinds of things, cividis (Nuñez, Anderton and Renslow 2018) for quantities.

export const INK = "#1b2430";
export const QUIET = "#566273";
export const LINE = "#d5dbe3";
export const PAPER = "#ffffff";

export const BLUE = "#0072b2";
export const VERMILION = "#d55e00";
export const GREEN = "#009e73";
export const ORANGE = "#e69f00";
export const SKY = "#56b4e9";
export const PURPLE = "#cc79a7";
export const YELLOW = "#f0e442";

/** Colors of the runs of a race. */
export const RUNNER_COLORS = [BLUE, VERMILION, GREEN, PURPLE] as const;

/** Colors of the parts of an access. */
export const PART_COLORS: Readonly<Record<string, string>> = {
  queue: "#aab4c2", overhead: "#7b8796", startup: PURPLE, x: BLUE, settle: SKY, y: ORANGE, turnaround: VERMILION, transfer: GREEN,
  rotation: ORANGE, seek: BLUE,
};

const CIVIDIS_STOPS: readonly (readonly [number, number, number])[] = [
  [0, 32, 77], [0, 42, 102], [0, 51, 111], [39, 63, 108], [60, 74, 107], [76, 85, 107], [91, 95, 109], [104, 106, 112],
  [117, 117, 117], [131, 129, 120], [146, 141, 120], [161, 154, 118], [176, 166, 114], [192, 179, 106], [209, 193, 95],
  [225, 207, 80], [243, 222, 55], [255, 234, 70],
];

/** 256 colors of cividis, as the 32-bit words of image data on little-endian machines. */
export const CIVIDIS: Uint32Array = Uint32Array.from({ length: 256 }, (_, index) => {
  const [red, green, blue] = cividis(index / 255);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});

/** A color of cividis, `share` from 0 (dark) to 1 (light). */
export function cividis(share: number): [number, number, number] {
  const place = Math.max(0, Math.min(1, share)) * (CIVIDIS_STOPS.length - 1);
  const below = Math.min(CIVIDIS_STOPS.length - 2, Math.floor(place));
  const part = place - below;
  const [from, to] = [CIVIDIS_STOPS[below]!, CIVIDIS_STOPS[below + 1]!];
  const mixed = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * part);
  return [mixed(0), mixed(1), mixed(2)];
}
