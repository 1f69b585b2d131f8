// Colors of the laboratory, from the palette of all figures.

import { BLUE, FAINT, GREEN, PURPLE, VERMILION, timeColor } from "../charts/palette.ts";

export { BLUE, GREEN, INK, ORANGE, PAPER, PARTS as PART_COLORS, PURPLE, QUIET, SKY, STATES, VERMILION, cividis } from "../charts/palette.ts";
export const LINE = FAINT;

/** Colors of the runs of a race. */
export const RUNNER_COLORS = [BLUE, VERMILION, GREEN, PURPLE] as const;

/** 256 colors of positioning times, near places light, as the 32-bit words of image data on little-endian machines. */
export const TIME_COLORS: Uint32Array = Uint32Array.from({ length: 256 }, (_, index) => {
  const [red, green, blue] = timeColor(index / 255);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});
