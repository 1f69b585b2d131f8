// The last choice of the scheduler, in words and as a table.

import { el, fill, setAttribute, type Child } from "../dom.ts";
import { formatTime, formatCount, formatMs, formatDuration } from "../format.ts";
import { accessTimeline, describeOperation, positioningTime } from "./timeline.ts";
import type { Choice, Window } from "./window.ts";

/** Positioning times that differ by less look equal in the table. */
const EQUAL_TOLERANCE_NS = 500;

/** The operation of an access in words. */
export function accessOperation(window: Window, row: number): string {
  const { op, blocks } = window.data.accesses;
  return describeOperation(op[row]!, blocks[row]!);
}

/** A choice in a sentence, for screen readers and for readers who want its reason. */
export function describeChoice(window: Window, choice: Choice, scheduler: string): string {
  const { id } = window.data.accesses;
  const chosenCandidate = choice.candidates.find((each) => each.isChosen);
  if (!chosenCandidate) return "";
  const others = choice.candidates.filter((each) => !each.isChosen);
  const opening = `${formatTime(choice.at_ns)}: ${scheduler} takes ${accessOperation(window, chosenCandidate.access)} #${id[chosenCandidate.access]}, ${formatDuration(chosenCandidate.positioning_ns)} away`;
  if (others.length === 0) return `${opening}, the only one that waits.`;
  const best = others.reduce((one, other) => (other.positioning_ns < one.positioning_ns ? other : one));
  const reason = best.positioning_ns >= chosenCandidate.positioning_ns ? `the next best is ${formatDuration(best.positioning_ns)} away` : `although #${id[best.access]} is only ${formatDuration(best.positioning_ns)} away`;
  return `${opening}, of ${choice.waiting}; ${reason}.`;
}

/**
 * How positioning of the chosen request differs from what the scheduler expects; empty where it does not, or where several requests
 * were chosen. Schedulers know neither the buffer of a drive nor, on some devices, the exact mechanics.
 */
export function describeDeviation(window: Window, choice: Choice): string {
  const { accesses } = window.data;
  const [chosenCandidate, secondChosen] = choice.candidates.filter((each) => each.isChosen);
  if (!chosenCandidate || secondChosen || !Number.isFinite(accesses.end_ns[chosenCandidate.access]!)) return "";
  const actual_ns = positioningTime(accessTimeline(accesses, chosenCandidate.access));
  if (Math.abs(actual_ns - chosenCandidate.positioning_ns) < EQUAL_TOLERANCE_NS) return "";
  const expectation = `The scheduler expects ${formatDuration(chosenCandidate.positioning_ns)} of positioning for #${accesses.id[chosenCandidate.access]}`;
  const isBuffered = actual_ns === 0 && accesses.turns[chosenCandidate.access]! > 0;
  return isBuffered ? `${expectation}; the drive’s buffer serves it without positioning.` : `${expectation}; it takes ${formatDuration(actual_ns)}.`;
}

/** The panel of the choice. */
export class ChoicePanel {
  readonly element: HTMLElement;
  private readonly waiting = el("span", { class: "quiet" });
  private readonly body = el("tbody");
  private readonly oldest = el("p", { class: "say" });
  private readonly deviation = el("p", { class: "say" });
  private shownKey = "";

  constructor(private readonly follow: (id: number) => void) {
    this.element = el("section", { class: "card choice", "aria-labelledby": "choice-title" }, [
      el("h2", { id: "choice-title" }, ["The choice", this.waiting]),
      el("div", { class: "scroll" }, [el("table", {}, [
        el("thead", {}, [el("tr", {}, ["request", "is", "away, ms", "lag", "waits"].map((name, index) =>
          el("th", { scope: "col", class: index === 1 ? "words" : undefined }, [name])))]),
        this.body,
      ])]),
      this.oldest, this.deviation,
    ]);
    setAttribute(this.element, "data-tour", "choice");
  }

  show(window: Window, choice: Choice | null, oldestRow: number | null, t: number): void {
    const key = `${window.from_ns} ${choice?.index ?? "-"}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    fill(this.waiting, choice ? `of ${formatCount(choice.waiting, "request")} that wait${choice.waiting === 1 ? "s" : ""}` : "nothing waits");
    fill(this.body, ...(choice ? this.rows(window, choice) : []));
    const { id, queued_ns } = window.data.accesses;
    this.deviation.textContent = choice ? describeDeviation(window, choice) : "";
    this.deviation.hidden = this.deviation.textContent === "";
    fill(this.oldest, oldestRow === null ? "No other request waits." : `The oldest of the others, #${id[oldestRow]}, waits for ${formatDuration(t - queued_ns[oldestRow]!)} already.`);
  }

  private rows(window: Window, choice: Choice): Child[] {
    const { id, queued_ns } = window.data.accesses;
    const chosen_ns = choice.candidates.find((each) => each.isChosen)?.positioning_ns ?? 0;
    return choice.candidates.slice(0, 6).map(({ access, positioning_ns, isChosen }) => {
      const numberButton = el("button", { type: "button", class: "plain", "aria-label": `follow request ${id[access]}` }, [`#${id[access]}`],
        { click: () => this.follow(id[access]!) });
      const lag_ns = positioning_ns - chosen_ns;
      return el("tr", { class: isChosen ? "chosen" : undefined }, [
        el("td", {}, [numberButton]), el("td", { class: "words" }, [accessOperation(window, access)]), el("td", {}, [formatMs(positioning_ns)]),
        el("td", {}, [isChosen ? "chosen" : `${lag_ns < 0 ? "−" : "+"}${formatMs(Math.abs(lag_ns))}`]), el("td", {}, [formatDuration(choice.at_ns - queued_ns[access]!)]),
      ]);
    });
  }
}
