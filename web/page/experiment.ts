// An experiment file as tables of lines: a control replaces a table or a key, and all other lines stay as they were written.

const HEADER = /^\s*(\[{1,2})\s*([\w."-]+)\s*\]{1,2}\s*(#.*)?$/;

/** A table: its name, its header line, and the lines below. */
interface Table {
  readonly name: string;
  readonly header: string;
  readonly lines: readonly string[];
}

/** Values of a table by key. */
export type Values = Readonly<Record<string, string | number | boolean>>;

export class Experiment {
  private constructor(private readonly tables: readonly Table[]) {}

  /** Tables as they stand in a file; subtables and every table of an array are tables of their own. */
  static parse(toml: string): Experiment {
    const tables: { name: string; header: string; lines: string[] }[] = [{ name: "", header: "", lines: [] }];
    for (const line of toml.split(/\r?\n/)) {
      const header = HEADER.exec(line);
      if (header) tables.push({ name: header[2]!, header: line, lines: [] });
      else tables.at(-1)!.lines.push(line);
    }
    return new Experiment(tables);
  }

  /** The value of a key as it is written, without its quotes. */
  get(table: string, key: string): string | undefined {
    const line = this.find(table)?.lines.find((each) => parseKey(each) === key);
    const value = line === undefined ? undefined : parseValue(line);
    return value?.replace(/^(["'])(.*)\1$/, "$2");
  }

  has(table: string): boolean {
    return this.find(table) !== undefined;
  }

  /** A copy with another value of a key. */
  withValue(table: string, key: string, value: string | number | boolean): Experiment {
    const line = assignment(key, value);
    const lines = this.find(table)?.lines ?? [];
    const keyIndex = lines.findIndex((each) => parseKey(each) === key);
    return this.withLines(table, keyIndex < 0 ? [...trimTrailingBlanks(lines), line] : lines.map((each, index) => (index === keyIndex ? line : each)));
  }

  /** A copy in which a table has other values and no subtables; without the table where `values` is null. */
  withTable(table: string, values: Values | null): Experiment {
    const withoutTable = new Experiment(this.tables.filter(({ name }) => name !== table && !name.startsWith(`${table}.`)));
    return values === null ? withoutTable : withoutTable.withLines(table, Object.entries(values).map(([key, value]) => assignment(key, value)));
  }

  /** A copy that replays the whole of a trace file. */
  withTrace(file: string): Experiment {
    return this.withTable("workload", null).withTable("trace", { file }).withValue("replay", "limit", 0).withValue("replay", "outside", "wrap");
  }

  /** The text of the file. */
  get toml(): string {
    const parts = this.tables.filter(({ name, lines }) => name !== "" || trimTrailingBlanks(lines).length > 0);
    return `${parts.map(({ header, lines }) => [...(header ? [header] : []), ...trimTrailingBlanks(lines)].join("\n")).join("\n\n")}\n`;
  }

  private find(table: string): Table | undefined {
    return this.tables.find(({ name, header }) => name === table && !header.trim().startsWith("[["));
  }

  private withLines(table: string, lines: readonly string[]): Experiment {
    const current = this.find(table);
    if (current) return new Experiment(this.tables.map((each) => (each === current ? { ...current, lines } : each)));
    return new Experiment([...this.tables, { name: table, header: `[${table}]`, lines }]);
  }
}

/** A number as TOML has it: digits may be grouped by underscores. */
export function parseNumber(text: string): number {
  return Number(text.replaceAll("_", ""));
}

/** Number of operations of the warm-up of a complete experiment. */
export function warmupOperations(toml: string): number {
  return parseNumber(Experiment.parse(toml).get("replay", "warmup") ?? "0");
}

function assignment(key: string, value: string | number | boolean): string {
  return `${key} = ${typeof value === "string" ? quote(value) : value}`;
}

/** A text in quotes, as TOML requires. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(/\x7f/g, "\\u007f");
}

function parseKey(line: string): string | undefined {
  return /^\s*"?([\w.-]+)"?\s*=/.exec(line)?.[1];
}

function parseValue(line: string): string {
  const value = line.slice(line.indexOf("=") + 1).trim();
  return /^["']/.test(value) ? (/^"(?:[^"\\]|\\.)*"|^'[^']*'/.exec(value)?.[0] ?? value) : value.replace(/\s*#.*$/, "");
}

/** Lines without the empty ones at the end. */
function trimTrailingBlanks(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  while (end > 0 && lines[end - 1]!.trim() === "") end--;
  return lines.slice(0, end);
}
