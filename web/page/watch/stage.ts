// The stage of a sled: the region under one tip, the requests that wait in it, the sled and its path.

import { BLUE, LINE, MARK_FILL, MARK_OUTLINE, ORANGE, QUIET, SURFACE, VERMILION } from "../palette.ts";
import { formatNumber } from "../format.ts";
import { drawMap } from "./map.ts";
import { Frame, ticks, type Extent } from "./scene.ts";

/** A request as it lies on the stage. */
export interface Dot {
  readonly column: number;
  readonly row: number;
  readonly isWrite: boolean;
}

/** The picture that stays until a request arrives or is chosen. */
export interface StageBackground {
  readonly extent: Extent;
  readonly map: HTMLCanvasElement | null;
  readonly max_ms: number;
  readonly waiting: readonly Dot[];
}

/** The picture that changes with every frame. */
export interface StageForeground {
  readonly chosen: Dot | null;
  readonly runnersUp: readonly Dot[];
  /** Position of the sled, as column and row with fractions. */
  readonly sled: { readonly column: number; readonly row: number };
  /** Earlier positions of the sled, oldest first. */
  readonly trail: readonly (readonly [column: number, row: number])[];
}

const MARGIN = { left: 44, right: 12, top: 26, bottom: 42 };
/** From this many on, requests are drawn as spots without outlines. */
const MAX_OUTLINED_REQUESTS = 1500;

export function stageFrame(extent: Extent, width: number, height: number): Frame {
  return new Frame(extent, width, height, MARGIN);
}

export function drawBackground(pen: CanvasRenderingContext2D, frame: Frame, background: StageBackground): void {
  drawField(pen, frame, background);
  clipToField(pen, frame);
  drawRequests(pen, frame, background.waiting);
  pen.restore();
}

export function drawForeground(pen: CanvasRenderingContext2D, frame: Frame, foreground: StageForeground): void {
  clipToField(pen, frame);
  drawTrail(pen, frame, foreground.trail);
  for (const dot of foreground.runnersUp) drawRing(pen, frame, dot, MARK_FILL, 8, 1.2);
  if (foreground.chosen) drawTarget(pen, frame, foreground);
  drawSled(pen, frame.x(foreground.sled.column), frame.y(foreground.sled.row));
  pen.restore();
}

/** Clips to the field what is drawn from now on, with room for shapes that stand over its edge. */
function clipToField(pen: CanvasRenderingContext2D, frame: Frame): void {
  const { x, y, width, height } = frame.innerBox;
  pen.save();
  pen.beginPath();
  pen.rect(x - 8, y - 8, width + 16, height + 16);
  pen.clip();
}

function drawField(pen: CanvasRenderingContext2D, frame: Frame, { map, max_ms, extent }: StageBackground): void {
  const { x, y, width, height } = frame.innerBox;
  pen.fillStyle = SURFACE;
  pen.fillRect(x, y, width, height);
  if (map) {
    pen.imageSmoothingEnabled = extent.rows > height;
    pen.drawImage(map, x, y, width, height);
    drawColorScale(pen, x + width, 13, max_ms);
  }
  pen.strokeStyle = LINE;
  pen.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  pen.fillStyle = QUIET;
  pen.textAlign = "center";
  for (const tick of ticks(extent.columns - 1, 6)) pen.fillText(tick.toLocaleString("en"), frame.x(tick), y + height + 12);
  pen.fillText("x: cylinder", x + width / 2, y + height + 29);
  pen.textAlign = "right";
  for (const tick of ticks(extent.rows - 1, 6)) pen.fillText(String(tick), x - 7, frame.y(tick));
  pen.save();
  pen.translate(11, y + height / 2);
  pen.rotate(-Math.PI / 2);
  pen.textAlign = "center";
  pen.fillText("y: row of tip sectors", 0, 0);
  pen.restore();
}

/** Draws the color scale of the map, with its right end at `right`. */
function drawColorScale(pen: CanvasRenderingContext2D, right: number, middle: number, max_ms: number): void {
  const width = 110;
  const text = `${formatNumber(max_ms)} ms`;
  pen.fillStyle = QUIET;
  pen.textAlign = "right";
  pen.fillText(text, right, middle);
  const left = right - pen.measureText(text).width - 8 - width;
  pen.drawImage(colorRamp(), left, middle - 5, width, 10);
  pen.fillText("positioning time from here: 0", left - 8, middle);
}

let cachedRamp: HTMLCanvasElement | undefined;

/** All colors of the map side by side, from near to far. */
function colorRamp(): HTMLCanvasElement {
  cachedRamp ??= drawMap({ columns: 256, rows: 1, ms: Float64Array.from({ length: 256 }, (_, index) => index) }, 255);
  return cachedRamp;
}

function drawRequests(pen: CanvasRenderingContext2D, frame: Frame, dots: readonly Dot[]): void {
  if (dots.length > MAX_OUTLINED_REQUESTS) {
    pen.drawImage(drawSpeckles(frame, dots), 0, 0, frame.width, frame.height);
    return;
  }
  const radius_px = dots.length > 300 ? 2.6 : 4;
  const [reads, writes] = [new Path2D(), new Path2D()];
  for (const { column, row, isWrite } of dots) {
    const [x, y] = [frame.x(column), frame.y(row)];
    if (isWrite) writes.rect(x - radius_px, y - radius_px, 2 * radius_px, 2 * radius_px);
    else {
      reads.moveTo(x + radius_px, y);
      reads.arc(x, y, radius_px, 0, 2 * Math.PI);
    }
  }
  pen.lineWidth = 1.5;
  pen.strokeStyle = MARK_OUTLINE;
  for (const [path, color] of [[reads, MARK_FILL], [writes, ORANGE]] as const) {
    pen.fillStyle = color;
    pen.stroke(path);
    pen.fill(path);
  }
}

const speckleCanvas = document.createElement("canvas");
/** White and orange as words of image data. */
const [WHITE_WORD, ORANGE_WORD] = [0xffffffff, 0xff009fe6];

/** Thousands of requests as spots of 3 x 3 pixels: writing pixels is far quicker than drawing a path of as many parts. */
function drawSpeckles(frame: Frame, dots: readonly Dot[]): HTMLCanvasElement {
  const [width, height] = [Math.ceil(frame.width), Math.ceil(frame.height)];
  [speckleCanvas.width, speckleCanvas.height] = [width, height];
  const pen = speckleCanvas.getContext("2d")!;
  const image = pen.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (const { column, row, isWrite } of dots) {
    const cornerIndex = Math.round(frame.x(column) - 1) + Math.round(frame.y(row) - 1) * width;
    for (let pixel = 0; pixel < 9; pixel++) pixels[cornerIndex + (pixel % 3) + Math.floor(pixel / 3) * width] = isWrite ? ORANGE_WORD : WHITE_WORD;
  }
  pen.putImageData(image, 0, 0);
  return speckleCanvas;
}

function drawTrail(pen: CanvasRenderingContext2D, frame: Frame, points: readonly (readonly [number, number])[]): void {
  if (points.length < 2) return;
  pen.lineJoin = "round";
  const path = new Path2D();
  points.forEach(([column, row], index) => {
    if (index) path.lineTo(frame.x(column), frame.y(row));
    else path.moveTo(frame.x(column), frame.y(row));
  });
  pen.strokeStyle = "#00000066";
  pen.lineWidth = 3;
  pen.stroke(path);
  pen.strokeStyle = "#ffffffcc";
  pen.lineWidth = 1.4;
  pen.stroke(path);
}

function drawTarget(pen: CanvasRenderingContext2D, frame: Frame, { chosen, sled: from }: StageForeground): void {
  const to = chosen!;
  pen.setLineDash([4, 4]);
  for (const [color, width] of [["#000000aa", 3], ["#ffd9c2", 1.5]] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(frame.x(from.column), frame.y(from.row));
    pen.lineTo(frame.x(to.column), frame.y(to.row));
    pen.stroke();
  }
  pen.setLineDash([]);
  drawRequests(pen, frame, [to]);
  drawRing(pen, frame, to, MARK_FILL, 9.5, 5);
  drawRing(pen, frame, to, VERMILION, 9.5, 2.8);
}

function drawRing(pen: CanvasRenderingContext2D, frame: Frame, dot: Dot, color: string, radius: number, width: number): void {
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(frame.x(dot.column), frame.y(dot.row), radius, 0, 2 * Math.PI);
  pen.stroke();
}

function drawSled(pen: CanvasRenderingContext2D, x: number, y: number): void {
  for (const [color, width, reach] of [[MARK_FILL, 6, 11], [BLUE, 3, 10]] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x - reach, y);
    pen.lineTo(x + reach, y);
    pen.moveTo(x, y - reach);
    pen.lineTo(x, y + reach);
    pen.stroke();
  }
}
