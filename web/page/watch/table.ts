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
    const choices: Choice[] = [];
    for (let choice = window.choice(t, station); choice && choices.length < MAX_ROWS; choice = window.choice(choice.at_ns - 0.5, station)) choices.push(choice);
    const key = `${window.from_ns} ${station} ${choices[0]?.index}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    fill(this.body, ...choices.map((choice) => this.row(window, choice)));
  }

  private row(window: Window, choice: Choice): HTMLElement {
    const chosenCandidate = choice.candidates.find((each) => each.isChosen)!;
    const otherTimes_ns = choice.candidates.filter((each) => !each.isChosen).map((each) => each.positioning_ns);
    return el("tr", {}, [
      el("td", {}, [formatTime(choice.at_ns)]), el("td", {}, [`#${window.data.accesses.id[chosenCandidate.access]}`]),
      el("td", { class: "words" }, [accessOperation(window, chosenCandidate.access)]), el("td", {}, [formatMs(chosenCandidate.positioning_ns)]),
      el("td", {}, [otherTimes_ns.length ? formatMs(Math.min(...otherTimes_ns)) : "–"]), el("td", {}, [choice.waiting]),
    ]);
  }
}
