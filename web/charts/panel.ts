// Panels as `sledlab.show.series` writes them into pages; empty and false values are omitted.

/** Numbers as a list, or three letters for each. */
export type Packed = string | readonly (number | null)[];
export type Positions = readonly number[] | { readonly first: number; readonly step: number; readonly count: number };

export interface SeriesData {
  readonly name: string;
  readonly color: string;
  readonly kind?: "area" | "bar";
  readonly values: Packed;
  /** Own positions, of the steps of a distribution. */
  readonly at?: Packed;
  /** Number of the values up to 50 % of a distribution: those after them are given by what is missing to 100 %. */
  readonly half?: number;
  /** Ends of the 95 % confidence interval at each position. */
  readonly low?: Packed;
  readonly high?: Packed;
  /** Positions, by number, of overloaded runs. */
  readonly late?: readonly number[];
  readonly dash?: readonly number[];
  readonly gray?: boolean;
}

export interface MapData {
  readonly yName: string;
  readonly y: Positions;
  readonly inX: Packed;
  readonly inY: Packed;
  /** The position from which times are measured. */
  readonly start?: readonly [number, number];
  /** Times in ms whose regions are outlined. */
  readonly outlines?: readonly number[];
}

/** A bar with a name: its name, its length, its color, the text at its end, and the heading above it. */
export type NamedBarData = readonly [string, number, string, string, string];

export interface PanelData {
  readonly xName: string;
  readonly yName: string;
  readonly series: readonly SeriesData[];
  readonly x?: Positions;
  readonly steps?: readonly string[];
  /** Names above the plot, one for each position on the x axis. */
  readonly top?: readonly string[];
  readonly logX?: boolean;
  readonly logY?: boolean;
  readonly together?: string;
  readonly marks?: readonly (readonly [string, number])[];
  /** Texts at values of the y axis. */
  readonly levels?: readonly (readonly [string, number])[];
  readonly rows?: readonly string[];
  /** For each row, bars as their start and the lengths of their stretches. */
  readonly bars?: readonly (readonly (readonly number[])[])[];
  readonly map?: MapData;
  readonly named?: readonly NamedBarData[];
}
