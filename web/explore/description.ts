// What `papers/sledlab_papers/explorable.py` writes about a figure. Infinite ends of ranges are null.

export type Labels = Readonly<Record<string, string | number | boolean>>;
export type Setting = readonly [key: string, value: string];
export type Range = readonly [number | null, number | null];

/** A run of the figure, for one seed. */
export interface Case {
  readonly labels: Labels;
  readonly settings: readonly Setting[];
  /** Of jobs: the cluster, and the name of its record in `records`. */
  readonly toml?: string;
  readonly record?: string;
}

/** An experiment of the figure. */
export interface Part {
  readonly place: string;
  readonly toml: string;
  /** The same without its workload, which stands in for a recorded trace. */
  readonly traced_toml?: string;
  readonly cases: readonly Case[];
  /** The command and its options, as words; `settings` are those of its options `--set`. */
  readonly command: readonly string[];
  readonly words: readonly string[];
  readonly workload: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Of jobs: texts of work records by size and name, and settings of the job besides its size. */
  readonly records?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly job_settings?: readonly string[];
}

/** A setting of an assumption. Keys with a colon are parameters of a scheduler; `study.speedup` chooses among loads. */
export interface Control {
  readonly key: string;
  /** Value in the paper's set, and in the old reading where it differs. */
  readonly value: string;
  readonly former: string | null;
  /** Values with their origins. */
  readonly known: readonly (readonly [value: string, origin: string])[];
  readonly meaning?: string;
  readonly unit?: string;
  readonly range?: readonly [number, number] | null;
  readonly words?: readonly string[];
}

/** A line of the paper's set. */
export interface Assumption {
  readonly says: string;
  readonly mark: string;
  readonly because: string;
  /** Numbers of the parts to which it applies. */
  readonly parts: readonly number[];
  readonly settings: readonly Control[];
}

/** A statement of the paper; see `PublishedValue` in `sledlab.reproduction.figure`. */
export interface Statement {
  readonly text: string;
  readonly at: readonly (readonly [string | number, number])[];
  readonly x: Range | null;
  readonly y: Range | null;
  readonly of: string;
  readonly by: Range | null;
  readonly along: "x" | "y";
  readonly within: readonly [number, number] | null;
  readonly at_x: string | number | null;
  readonly from_x: string | number | null;
}

/** A panel; see `FigurePanel` in `sledlab.reproduction.figure`. */
export interface Panel {
  readonly title: string;
  readonly kind: "lines" | "bars" | "stack";
  readonly x: string;
  /** The column or the sum that is shown; of a stack, those of its parts. */
  readonly y: string | Readonly<Record<string, string>>;
  readonly places: readonly string[];
  readonly where: Labels;
  readonly series: string;
  readonly names: Readonly<Record<string, string>>;
  readonly labels: readonly [string, string];
  readonly log: string;
  readonly limits: { readonly x?: readonly [number, number]; readonly y?: readonly [number, number] };
  readonly printed: readonly Statement[];
}

/** Values of runs of `a` against those of `b`, equal in all labels but `axis`, and which of them meet a claim. */
export interface Criterion {
  readonly form: "change" | "ratio" | "difference" | "loss" | "gain";
  readonly y: string;
  /** Column of `b`, where that is another one. */
  readonly y_b?: string;
  readonly where: Labels;
  readonly axis: string;
  readonly a: readonly string[];
  readonly b: string;
  /** Values of y at which the x of `a` and `b` are compared. */
  readonly levels: readonly number[];
  /** Only loads count at which the mean response of a run on the axis is at least `from_ms` and neither run is overloaded. */
  readonly loads?: { readonly of: string; readonly from_ms: number };
  readonly within: Range;
  /** Of printed numbers only. */
  readonly near?: Range | null;
  readonly scale?: number;
  readonly unit?: string;
  readonly is_strict?: boolean;
  readonly takes_largest?: boolean;
  /** The best outcome that the page can give. */
  readonly at_most?: "direction only";
}

export interface Claim {
  readonly id: string;
  readonly claim: string;
  readonly published: string;
  /** Outcome and deciding number of whole runs with the paper's set. */
  readonly outcome: string;
  readonly ours: string;
  readonly criteria: readonly Criterion[];
}

export interface Description {
  readonly name: string;
  readonly paper: string;
  readonly citation: string;
  /** Paper and numbers of the figures. */
  readonly label: string;
  readonly title: string;
  readonly notes: readonly string[];
  /** Requests a run, or scale factors of a job's data. The first is the coarse answer, the second the one that is shown. */
  readonly sizes: readonly number[];
  readonly size_label: string;
  readonly parts: readonly Part[];
  readonly assumptions: readonly Assumption[];
  readonly panels: readonly Panel[];
  readonly claims: readonly Claim[];
}
