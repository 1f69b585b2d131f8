// Colors of the laboratory, from the palette of all figures.

import * as base from "../charts/palette.ts";

export { BLUE, FAINT, GREEN, ORANGE, PARTS as PART_COLORS, PURPLE, SKY, STATES, VERMILION, adaptiveColor, cividis, themed } from "../charts/palette.ts";

/** Fill and outline of marks on a map, whose colors do not depend on the theme. */
export const [MARK_FILL, MARK_OUTLINE] = [base.PAPER, base.INK];

/** Colors of drawings that depend on the theme. */
export let [INK, QUIET, LINE, PAPER, SURFACE] = themeColors((color) => color);

function themeColors(themed: (color: string) => string): [string, string, string, string, string] {
  return [themed(base.INK), themed(base.QUIET), themed(base.FAINT), themed(base.PAPER), themed(base.SURFACE)];
}

/** Gives these colors their values for the present theme, and again when the theme changes, before `redraw`. */
export function followTheme(redraw: () => void): void {
  const update = () => ([INK, QUIET, LINE, PAPER, SURFACE] = themeColors(base.themed));
  update();
  base.onTheme(() => {
    update();
    redraw();
  });
}

/** Returns the colors of names that are drawn together. */
export const colorsOf = (names: readonly string[]): string[] => base.colorPlaces(names).map((place) => base.SERIES[place]!);

/** 256 colors of positioning times, near places light, as the 32-bit words of image data on little-endian machines. */
export const TIME_COLORS: Uint32Array = Uint32Array.from({ length: 256 }, (_, index) => {
  const [red, green, blue] = base.timeColor(index / 255);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});
