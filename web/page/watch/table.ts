// The choices around the present as a table, shown in place of the stage.

import { el, fill } from "../dom.ts";
import { formatTime, formatMs } from "../format.ts";
import { accessOperation } from "./choice.ts";
import type { Choice, Window } from "./window.ts";

const MAX_ROWS = 14;

export class ChoiceTable {
  readonly element: HTMLElement;
  private readonly body = el("tbody");
  private shownKey = "";

  constructor() {
    const names = ["time", "request", "is", "away, ms", "next best, ms", "of"];
    this.element = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The last choices" }, [el("table", {}, [
      el("caption", { class: "unseen" }, ["The last choices, the latest first"]),
      el("thead", {}, [el("tr", {}, names.map((name, index) => el("th", { scope: "col", class: index === 2 ? "words" : undefined }, [name])))]),
      this.body,
    ])]);
  }

  show(window: Window, t: number, station: number): void {
    const rows: Choice[] = [];
    for (let each = window.choice(t, station); each && rows.length < MAX_ROWS; each = window.choice(each.at_ns - 0.5, station)) rows.push(each);
    const key = `${window.from} ${station} ${rows[0]?.index}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    fill(this.body, ...rows.map((each) => this.row(window, each)));
  }

  private row(window: Window, choice: Choice): HTMLElement {
    const taken = choice.candidates.find((each) => each.chosen)!;
    const others = choice.candidates.filter((each) => !each.chosen).map((each) => each.positioning_ns);
    return el("tr", {}, [
      el("td", {}, [formatTime(choice.at_ns)]), el("td", {}, [`#${window.data.accesses.id[taken.access]}`]),
      el("td", { class: "words" }, [accessOperation(window, taken.access)]), el("td", {}, [formatMs(taken.positioning_ns)]),
      el("td", {}, [others.length ? formatMs(Math.min(...others)) : "–"]), el("td", {}, [choice.waiting]),
    ]);
  }
}
