// The last choice of the scheduler, in words and as a table.

import { el, fill, set, type Child } from "../dom.ts";
import { clock, counted, ms, span } from "../format.ts";
import { accessLife, operation, positioning } from "./life.ts";
import type { Choice, Window } from "./window.ts";

/** Positioning times that differ by less look equal in the table. */
const SAME_NS = 500;

/** The operation of an access in words. */
export function request(window: Window, row: number): string {
  const { op, blocks } = window.watched.accesses;
  return operation(op[row]!, blocks[row]!);
}

/** A choice in a sentence, for screen readers and for readers who want its reason. */
export function sentence(window: Window, choice: Choice, scheduler: string): string {
  const { id } = window.watched.accesses;
  const taken = choice.candidates.find((each) => each.chosen);
  if (!taken) return "";
  const others = choice.candidates.filter((each) => !each.chosen);
  const head = `${clock(choice.at_ns)}: ${scheduler} takes ${request(window, taken.access)} #${id[taken.access]}, ${span(taken.positioning_ns)} away`;
  if (others.length === 0) return `${head}, the only one that waits.`;
  const best = others.reduce((one, other) => (other.positioning_ns < one.positioning_ns ? other : one));
  const behind = best.positioning_ns - taken.positioning_ns;
  const why = behind >= 0 ? `the next best is ${span(best.positioning_ns)} away` : `although #${id[best.access]} is only ${span(best.positioning_ns)} away`;
  return `${head}, of ${choice.waiting}; ${why}.`;
}

/**
 * How positioning of the chosen request differs from what the scheduler expects; empty where it does not, or where several requests
 * were chosen. Schedulers know neither the buffer of a drive nor, on some devices, the exact mechanics.
 */
export function surprise(window: Window, choice: Choice): string {
  const { accesses } = window.watched;
  const [taken, second] = choice.candidates.filter((each) => each.chosen);
  if (!taken || second || !Number.isFinite(accesses.end_ns[taken.access]!)) return "";
  const actual = positioning(accessLife(accesses, taken.access));
  if (Math.abs(actual - taken.positioning_ns) < SAME_NS) return "";
  const expected = `The scheduler expects ${span(taken.positioning_ns)} of positioning for #${accesses.id[taken.access]}`;
  const isBuffered = actual === 0 && accesses.turns[taken.access]! > 0;
  return isBuffered ? `${expected}; the drive’s buffer serves it without positioning.` : `${expected}; it takes ${span(actual)}.`;
}

/** The panel of the choice. */
export class ChoicePanel {
  readonly element: HTMLElement;
  private readonly waiting = el("span", { class: "quiet" });
  private readonly body = el("tbody");
  private readonly oldest = el("p", { class: "say" });
  private readonly surprise = el("p", { class: "say" });
  private shown = "";

  constructor(private readonly follow: (id: number) => void) {
    this.element = el("section", { class: "card choice", "aria-labelledby": "choice-title" }, [
      el("h2", { id: "choice-title" }, ["The choice", this.waiting]),
      el("div", { class: "scroll" }, [el("table", {}, [
        el("thead", {}, [el("tr", {}, ["request", "is", "away, ms", "behind", "waits"].map((name, index) =>
          el("th", { scope: "col", class: index === 1 ? "words" : undefined }, [name])))]),
        this.body,
      ])]),
      this.oldest, this.surprise,
    ]);
    set(this.element, "data-tour", "choice");
  }

  show(window: Window, choice: Choice | null, oldest: number | null, t: number): void {
    const key = `${window.from} ${choice?.index ?? "-"}`;
    if (key === this.shown) return;
    this.shown = key;
    fill(this.waiting, choice ? `of ${counted(choice.waiting, "request")} that wait${choice.waiting === 1 ? "s" : ""}` : "nothing waits");
    fill(this.body, ...(choice ? this.rows(window, choice) : []));
    const { id, queued_ns } = window.watched.accesses;
    this.surprise.textContent = choice ? surprise(window, choice) : "";
    this.surprise.hidden = this.surprise.textContent === "";
    fill(this.oldest, oldest === null ? "No other request waits." : `The oldest of the others, #${id[oldest]}, waits for ${span(t - queued_ns[oldest]!)} already.`);
  }

  private rows(window: Window, choice: Choice): Child[] {
    const { id, queued_ns } = window.watched.accesses;
    const first = choice.candidates.find((each) => each.chosen)?.positioning_ns ?? 0;
    return choice.candidates.slice(0, 6).map(({ access, positioning_ns, chosen }) => {
      const number = el("button", { type: "button", class: "plain", "aria-label": `follow request ${id[access]}` }, [`#${id[access]}`],
        { click: () => this.follow(id[access]!) });
      const behind = positioning_ns - first;
      return el("tr", { class: chosen ? "chosen" : undefined }, [
        el("td", {}, [number]), el("td", { class: "words" }, [request(window, access)]), el("td", {}, [ms(positioning_ns)]),
        el("td", {}, [chosen ? "chosen" : `${behind < 0 ? "−" : "+"}${ms(Math.abs(behind))}`]), el("td", {}, [span(choice.at_ns - queued_ns[access]!)]),
      ]);
    });
  }
}
