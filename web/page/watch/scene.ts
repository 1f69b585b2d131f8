// The plane of columns and rows, and its picture. Times are in nanoseconds.

/** The extent of the plane. */
export interface Extent {
  readonly columns: number;
  readonly rows: number;
}

/** The picture of the plane, in pixels. */
export class Frame {
  constructor(
    readonly extent: Extent,
    readonly width: number,
    readonly height: number,
    readonly margin: { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number },
  ) {}

  get innerBox(): { x: number; y: number; width: number; height: number } {
    const { left, right, top, bottom } = this.margin;
    return { x: left, y: top, width: this.width - left - right, height: this.height - top - bottom };
  }

  /** The middle of a column; a fraction lies between two columns. */
  x(column: number): number {
    const { x, width } = this.innerBox;
    return x + ((column + 0.5) / this.extent.columns) * width;
  }

  /** The middle of a row, row 0 at the bottom. */
  y(row: number): number {
    const { y, height } = this.innerBox;
    return y + height - ((row + 0.5) / this.extent.rows) * height;
  }

  /** The column and row at a point of the picture; null outside. */
  place(x: number, y: number): { column: number; row: number } | null {
    const innerBox = this.innerBox;
    const column = Math.floor(((x - innerBox.x) / innerBox.width) * this.extent.columns);
    const row = Math.floor(((innerBox.y + innerBox.height - y) / innerBox.height) * this.extent.rows);
    const isInside = column >= 0 && column < this.extent.columns && row >= 0 && row < this.extent.rows;
    return isInside ? { column, row } : null;
  }
}

/** Ticks at round numbers from 0 up to `end`, at most `maxTicks` of them. */
export function ticks(end: number, maxTicks: number): number[] {
  if (!(end > 0)) return [0];
  const roughStep = end / maxTicks;
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= roughStep) ?? power * 10;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}
