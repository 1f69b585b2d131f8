// The states of each station's mechanism around the present: a lane for each station, the present in the middle.

import { STATION_STATES } from "../../core/types.ts";
import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { el } from "../dom.ts";
import { formatTime, formatDuration } from "../format.ts";
import { INK, QUIET, STATES, themed } from "../palette.ts";
import { swatch } from "./timeline.ts";
import type { Window } from "./window.ts";

/** Colors in the order of `STATION_STATES`. */
const COLORS = ["idle", "seek", "access", "inactive", "startup"].map((state) => STATES[state]!);
const LANE_HEIGHT = 20;
const AXIS_HEIGHT = 20;
const LEFT_MARGIN = 4;
const NAMES_WIDTH = 110;

/** The left end and the width of lanes, so that other strips can line up with them. */
export function laneBounds(stationCount: number, width: number): { left: number; width: number } {
  const left = stationCount > 1 ? NAMES_WIDTH : LEFT_MARGIN;
  return { left, width: width - left - 2 };
}

export class Lanes {
  readonly element: HTMLElement;
  private readonly sheet: Sheet;
  private redraw: (() => void) | null = null;

  constructor(private readonly names: readonly string[]) {
    const height = names.length * LANE_HEIGHT + AXIS_HEIGHT;
    this.sheet = new Sheet("States of the mechanism around the present", () => height, () => this.redraw?.(), "lanes");
    this.element = el("section", { class: "card wide", "aria-labelledby": "lanes-title" }, [
      el("h2", { id: "lanes-title" }, [
        "What it does, around now", el("span", { class: "legend" }, STATION_STATES.map((state, index) => el("span", {}, [swatch(COLORS[index]!), state]))),
      ]), this.sheet.canvas,
    ]);
    addSaveMenu(this.element, "States of the mechanism", [this.sheet]);
  }

  show(window: Window, t: number, half_ns: number): void {
    this.redraw = () => this.draw(window, t, half_ns);
    this.redraw();
  }

  private draw(window: Window, t: number, half_ns: number): void {
    const pen = this.sheet.begin();
    if (!pen) return;
    const { left, width } = laneBounds(this.names.length, this.sheet.width);
    const canvasX = (time_ns: number) => left + ((time_ns - t + half_ns) / (2 * half_ns)) * width;
    const { station, begin_ns, end_ns, state } = window.data.states;
    for (let index = 0; index < begin_ns.length; index++) {
      if (end_ns[index]! < t - half_ns || begin_ns[index]! > t + half_ns) continue;
      const [fromX, toX] = [Math.max(left, canvasX(begin_ns[index]!)), Math.min(left + width, canvasX(end_ns[index]!))];
      pen.fillStyle = themed(COLORS[state[index]!]!);
      pen.fillRect(fromX, station[index]! * LANE_HEIGHT + 2, Math.max(0.5, toX - fromX), LANE_HEIGHT - 4);
    }
    pen.fillStyle = QUIET;
    if (this.names.length > 1) this.names.forEach((name, index) => pen.fillText(name, 0, index * LANE_HEIGHT + LANE_HEIGHT / 2, left - 8));
    const bottom = this.names.length * LANE_HEIGHT;
    pen.fillText(`${formatDuration(half_ns)} before`, left, bottom + 12);
    pen.textAlign = "right";
    pen.fillText(`${formatDuration(half_ns)} after`, left + width, bottom + 12);
    pen.textAlign = "center";
    pen.fillStyle = INK;
    pen.fillText(formatTime(t), left + width / 2, bottom + 12);
    pen.fillRect(left + width / 2 - 1, 0, 2, bottom + 2);
  }
}
