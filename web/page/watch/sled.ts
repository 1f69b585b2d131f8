// A sled on its stage: converts positions of the core into columns and rows, and keeps the seek-time map up to date.

import type { Laboratory } from "../../core/laboratory.ts";
import type { SeekMap, SledFacts, Station } from "../../core/types.ts";
import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { formatTime } from "../format.ts";
import { maxPositioning_ms, drawMap } from "./map.ts";
import type { Player } from "./player.ts";
import { drawBackground, drawForeground, stageFrame, type Dot } from "./stage.ts";
import type { Stage } from "./stages.ts";
import type { Choice } from "./window.ts";

const TRAIL_ACCESSES = 8;
const MAX_RUNNERS_UP = 5;
/** Least time between two maps, in ms: the map follows the sled no faster than eyes do. */
const MAP_INTERVAL_MS = 60;

export class SledStage implements Stage {
  readonly element: HTMLElement;
  isStale = false;
  private readonly sheet: Sheet;
  private readonly facts: Station;
  private readonly sled: SledFacts;
  private readonly canvas = document.createElement("canvas");
  private map: HTMLCanvasElement | null = null;
  private max_ms = 1;
  private nextMap_ms = 0;
  private mapVersion = 0;
  private mapChoice_ns = -1;
  private isMapPending = false;
  private showsMap = true;
  private redraw: (() => void) | null = null;

  constructor(
    private readonly player: Player, private readonly station: number, private readonly core: Laboratory,
    readonly forStation: (station: number) => Stage,
  ) {
    this.facts = player.description.stations[station]!;
    this.sled = this.facts.sled!;
    this.sheet = new Sheet("The sled under its tips", (width) => Math.max(230, Math.min(372, width * 0.55)), () => this.redraw?.());
    this.element = el("div", {}, [this.sheet.canvas, el("p", { class: "legend" }, [
      legendEntry("○", "read"), legendEntry("■", "write", "writes"), legendEntry("◎", "chosen", "chosen-mark"), legendEntry("◯", "next best choices"),
      legendEntry("✛", "the tip, with its way"), el("span", {}, ["light: reached soon; dark: far"]),
    ])]);
    addSaveMenu(this.element, "Stage", [this.sheet]);
  }

  draw(t: number, waiting: readonly number[], choice: Choice | null, isStill: boolean): void {
    this.isStale = false;
    this.redraw = () => this.draw(t, waiting, choice, isStill);
    if (choice && this.showsMap) this.requestMap(choice);
    const pen = this.sheet.begin();
    if (!pen) return;
    const { window, paths } = this.player.loadedWindow;
    const path = paths[this.station]!;
    const chosenCandidate = choice?.candidates.find((each) => each.isChosen);
    const { end_ns, start_ns } = window.data.accesses;
    const servedRow = chosenCandidate && end_ns[chosenCandidate.access]! > t ? chosenCandidate.access : null;
    const oldestRow = window.trail(t, this.station, TRAIL_ACCESSES)[0];
    const frame = stageFrame(this.facts, this.sheet.width, this.sheet.height);
    const map = this.showsMap ? this.map : null;
    // Within a window the set of waiting requests depends only on the last choice and on their number.
    this.sheet.layer(`${window.from_ns} ${choice?.index} ${waiting.length} ${map ? this.mapVersion : ""}`, (backgroundPen) => {
      drawBackground(backgroundPen, frame, { extent: this.facts, map, max_ms: this.max_ms, waiting: waiting.map((row) => this.dot(row)) });
    });
    drawForeground(pen, frame, {
      chosen: servedRow === null ? null : this.dot(servedRow),
      runnersUp: (choice?.candidates ?? []).filter((each) => !each.isChosen && start_ns[each.access]! > t).slice(0, MAX_RUNNERS_UP).map((each) => this.dot(each.access)),
      sled: this.toColumnAndRow(path.position(t)),
      trail: oldestRow === undefined ? [] : path.samples(start_ns[oldestRow]!, t).map(([x, y]) => {
        const { column, row } = this.toColumnAndRow({ x, y });
        return [column, row] as const;
      }),
    });
    if (isStill) this.sheet.setLabel(`The sled under its tips at ${formatTime(t)}: ${waiting.length} requests wait`);
  }

  toggleMap(): void {
    this.showsMap = !this.showsMap;
  }

  private dot(row: number): Dot {
    const { column, row: rows, op } = this.player.loadedWindow.window.data.accesses;
    return { column: column[row]!, row: rows[row]!, isWrite: op[row] === 87 };
  }

  private toColumnAndRow({ x, y }: { x: number; y: number }): { column: number; row: number } {
    const [left, right] = this.sled.x_bits;
    const [low, high] = this.sled.y_bits;
    const { columns, rows } = this.facts;
    return { column: ((x - left) / (right - left)) * columns - 0.5, row: ((y - low) / (high - low)) * rows - 0.5 };
  }

  /** Asks for the map from the sled's position at a choice, unless another map is being computed. */
  private requestMap(choice: Choice): void {
    const choice_ns = choice.at_ns;
    const now_ms = performance.now();
    if (this.mapChoice_ns === choice_ns) return;
    if (this.isMapPending || now_ms < this.nextMap_ms) {
      // Drawn again later: a page that stands still must show the map of this choice.
      this.isStale = true;
      return;
    }
    this.nextMap_ms = now_ms + MAP_INTERVAL_MS;
    this.mapChoice_ns = choice_ns;
    this.isMapPending = true;
    const { x, y, direction } = this.player.loadedWindow.paths[this.station]!.position(choice.at_ns);
    this.core.seekMap(`[device]\n${this.facts.toml}`, { x: Math.round(x), y: Math.round(y), direction }).then(
      (map) => this.storeMap(map),
      () => (this.showsMap = false),
    ).finally(() => (this.isMapPending = false));
  }

  private storeMap(map: SeekMap): void {
    this.max_ms = Math.max(this.max_ms === 1 ? 0 : this.max_ms, maxPositioning_ms(map));
    this.map = drawMap(map, this.max_ms, this.canvas);
    this.mapVersion++;
    this.isStale = true;
  }
}

function legendEntry(sign: string, meaning: string, style = ""): HTMLElement {
  return el("span", {}, [el("b", { "aria-hidden": "true", class: style || undefined }, [sign]), meaning]);
}
