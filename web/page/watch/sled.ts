// A sled on its stage: converts positions of the core into columns and rows, and keeps the seek-time map up to date.

import type { Laboratory } from "../../core/laboratory.ts";
import type { SeekMap, SledFacts, Station } from "../../core/types.ts";
import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { clock } from "../format.ts";
import { longest, picture } from "./map.ts";
import type { Player } from "./player.ts";
import { drawGround, drawMoves, frameOf, type Dot } from "./stage.ts";
import type { Stage } from "./stages.ts";
import type { Choice } from "./window.ts";

const TRAIL = 8;
const RUNNERS = 5;
/** Least time between two maps, in ms: the map follows the sled no faster than eyes do. */
const MAP_EVERY_MS = 60;

export class SledStage implements Stage {
  readonly elements: readonly HTMLElement[];
  stale = false;
  private readonly sheet: Sheet;
  private readonly facts: Station;
  private readonly sled: SledFacts;
  private readonly canvas = document.createElement("canvas");
  private map: HTMLCanvasElement | null = null;
  private max_ms = 1;
  private resting = 0;
  private maps = 0;
  private drawn_key = -1;
  private asking = false;
  private mapped = true;
  private again: (() => void) | null = null;

  constructor(
    private readonly player: Player, private readonly station: number, private readonly core: Laboratory,
    readonly other: (station: number) => Stage,
  ) {
    this.facts = player.opened.stations[station]!;
    this.sled = this.facts.sled!;
    this.sheet = new Sheet("The sled under its tips", (width) => Math.max(230, Math.min(372, width * 0.55)), () => this.again?.());
    this.elements = [this.sheet.canvas, el("p", { class: "legend" }, [
      key("○", "read"), key("■", "write"), key("◎", "chosen"), key("✛", "the tip, with its way"), el("span", {}, ["dark: reached soon; light: far"]),
    ])];
  }

  draw(t: number, waiting: readonly number[], choice: Choice | null, still: boolean): void {
    this.stale = false;
    this.again = () => this.draw(t, waiting, choice, still);
    if (choice && this.mapped) this.ask(choice);
    const pen = this.sheet.begin();
    if (!pen) return;
    const { window, paths } = this.player.loaded;
    const path = paths[this.station]!;
    const taken = choice?.candidates.find((each) => each.chosen);
    const { end_ns, start_ns } = window.watched.accesses;
    const serving = taken && end_ns[taken.access]! > t ? taken.access : null;
    const before = window.trail(t, this.station, TRAIL)[0];
    const frame = frameOf(this.facts, this.sheet.width, this.sheet.height);
    const map = this.mapped ? this.map : null;
    // Within a window the set of waiting requests depends only on the last choice and on their number.
    this.sheet.layer(`${window.from} ${choice?.index} ${waiting.length} ${map ? this.maps : ""}`, (below) => {
      drawGround(below, frame, { extent: this.facts, map, max_ms: this.max_ms, waiting: waiting.map((row) => this.dot(row)) });
    });
    drawMoves(pen, frame, {
      chosen: serving === null ? null : this.dot(serving),
      runners: (choice?.candidates ?? []).filter((each) => !each.chosen && start_ns[each.access]! > t).slice(0, RUNNERS).map((each) => this.dot(each.access)),
      sled: this.at(path.place(t)),
      trail: before === undefined ? [] : path.between(start_ns[before]!, t).map(([x, y]) => {
        const { column, row } = this.at({ x, y });
        return [column, row] as const;
      }),
    });
    if (still) this.sheet.label(`The sled under its tips at ${clock(t)}: ${waiting.length} requests wait`);
  }

  toggleMap(): void {
    this.mapped = !this.mapped;
  }

  private dot(row: number): Dot {
    const { column, row: rows, op } = this.player.loaded.window.watched.accesses;
    return { column: column[row]!, row: rows[row]!, write: op[row] === 87 };
  }

  private at({ x, y }: { x: number; y: number }): { column: number; row: number } {
    const [left, right] = this.sled.x_bits;
    const [low, high] = this.sled.y_bits;
    const { columns, rows } = this.facts;
    return { column: ((x - left) / (right - left)) * columns - 0.5, row: ((y - low) / (high - low)) * rows - 0.5 };
  }

  /** Asks for the map from the sled's position at a choice, unless another map is being computed. */
  private ask(choice: Choice): void {
    const key = choice.at_ns;
    const now = performance.now();
    if (this.drawn_key === key) return;
    if (this.asking || now < this.resting) {
      // Drawn again later: a page that stands still must show the map of this choice.
      this.stale = true;
      return;
    }
    this.resting = now + MAP_EVERY_MS;
    this.drawn_key = key;
    this.asking = true;
    const { x, y, direction } = this.player.loaded.paths[this.station]!.place(choice.at_ns);
    this.core.seekMap(`[device]\n${this.facts.toml}`, { x: Math.round(x), y: Math.round(y), direction }).then(
      (map) => this.keep(map),
      () => (this.mapped = false),
    ).finally(() => (this.asking = false));
  }

  private keep(map: SeekMap): void {
    this.max_ms = Math.max(this.max_ms === 1 ? 0 : this.max_ms, longest(map));
    this.map = picture(map, this.max_ms, this.canvas);
    this.maps++;
    this.stale = true;
  }
}

function key(sign: string, meaning: string): HTMLElement {
  return el("span", {}, [el("b", { "aria-hidden": "true" }, [sign]), meaning]);
}
