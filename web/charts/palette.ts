// The palette of all figures, which Python reads too: Okabe and Ito (2008) for categories, cividis (Nuñez,
// Anderton and Renslow 2018) for quantities.

import palette from "../../python/sledlab/show/palette.json";

export const { ink: INK, quiet: QUIET, faint: FAINT, gray: GRAY, paper: PAPER, surface: SURFACE } = palette;
export const { blue: BLUE, vermilion: VERMILION, green: GREEN, purple: PURPLE, sky: SKY, orange: ORANGE } = palette;

/** Colors of series whose panel does not choose them. */
export const SERIES: readonly string[] = palette.series;

const PLACES: Readonly<Record<string, number>> = palette.places;

/** Returns the place in `SERIES` of the color of each name, by the rule of `color_places` in Python. */
export function colorPlaces(names: readonly string[]): number[] {
  const places: (number | undefined)[] = [];
  for (const name of names) {
    const place = PLACES[name.toLowerCase()];
    places.push(place !== undefined && !places.includes(place) ? place : undefined);
  }
  const free = SERIES.map((_, place) => place).filter((place) => !places.includes(place));
  return places.map((place, index) => place ?? free.shift() ?? index % SERIES.length);
}

/** Colors of the states of a device. */
export const STATES: Readonly<Record<string, string>> = palette.states;

/** Colors of the parts of an access. */
export const PARTS: Readonly<Record<string, string>> = palette.parts;

type Rgb = readonly [number, number, number];

const STOPS: readonly Rgb[] = palette.cividis.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb);

/** Returns a color of cividis, `share` from 0 (dark) to 1 (light). */
export function cividis(share: number): [number, number, number] {
  const position = Math.max(0, Math.min(1, share)) * (STOPS.length - 1);
  const below = Math.min(STOPS.length - 2, Math.floor(position));
  const [lower, upper] = [STOPS[below]!, STOPS[below + 1]!];
  const mixChannel = (channel: 0 | 1 | 2) => Math.round(lower[channel] + (upper[channel] - lower[channel]) * (position - below));
  return [mixChannel(0), mixChannel(1), mixChannel(2)];
}

/** The color of a time on a map, `share` of the longest one: near places are light. */
export const timeColor = (share: number): [number, number, number] => cividis(1 - share);

const DARK: Readonly<Record<string, string>> = palette.dark;
const TEXT: Readonly<Record<string, string>> = palette.text;

/** Whether the page is dark: paper is always light. */
export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
}

/** Returns the color that stands for a color of the palette on the current background. */
export function themed(color: string): string {
  return (isDark() && DARK[color.toLowerCase()]) || color;
}

/** Returns a color of style sheets that follows the theme by itself. */
export const adaptiveColor = (color: string): string => `light-dark(${color}, ${DARK[color.toLowerCase()] ?? color})`;

/** Returns the color of a text that names something drawn in `color`: its contrast is at least 4.5. */
export function textColor(color: string): string {
  return isDark() ? themed(color) : (TEXT[color.toLowerCase()] ?? color);
}

/** Calls a function when the page turns dark or light, also for printing; returns a function that ends this. */
export function onTheme(onChange: () => void): () => void {
  const queries = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", onChange);
  return () => {
    for (const query of queries) query.removeEventListener("change", onChange);
  };
}
