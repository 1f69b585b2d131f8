// The seek-time map as a picture: the positioning times to all places from the position of the mechanism.

import type { SeekMap } from "../../core/types.ts";
import { TIME_COLORS } from "../palette.ts";

/** A picture of a map, one pixel for each place, row 0 at the bottom; light means near. */
export function drawMap(map: Pick<SeekMap, "columns" | "rows" | "ms">, max_ms: number, reusedCanvas?: HTMLCanvasElement): HTMLCanvasElement {
  const { columns, rows, ms } = map;
  const canvas = reusedCanvas ?? document.createElement("canvas");
  if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  const pen = canvas.getContext("2d")!;
  const image = pen.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const scale = 255 / max_ms;
  for (let row = 0; row < rows; row++) {
    const lineStart = (rows - 1 - row) * columns;
    for (let column = 0; column < columns; column++) {
      pixels[lineStart + column] = TIME_COLORS[Math.min(255, (ms[row * columns + column]! * scale) | 0)]!;
    }
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

/** The longest positioning time of a map, in ms. */
export function maxPositioning_ms(map: SeekMap): number {
  let max_ms = 0;
  for (const ms of map.ms) if (ms > max_ms) max_ms = ms;
  return max_ms || 1;
}
