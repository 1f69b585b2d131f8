// A tour in five steps, above the page that it explains: the page stays visible and usable.

import type { App } from "../app.ts";
import { button, el, fill } from "../dom.ts";
import { STEPS } from "./steps.ts";

export class Tour {
  readonly element = el("section", { class: "card tour", "aria-label": "Tour", tabindex: -1, hidden: true });
  private index = 0;
  /** Whether the element of the step is kept in the window: runs and races that are opened move it. */
  private isFollowing = false;

  constructor(private readonly app: App) {
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.end();
    });
    new ResizeObserver(() => this.scrollToAnchor()).observe(document.body);
    // A reader who does something else than wait scrolls alone.
    for (const type of ["pointerdown", "wheel", "keydown"]) addEventListener(type, () => (this.isFollowing = false), { passive: true });
  }

  begin(): void {
    this.show(0);
  }

  private show(index: number): void {
    this.index = index;
    const step = STEPS[index]!;
    const isLast = index === STEPS.length - 1;
    this.element.hidden = false;
    fill(this.element,
      el("h2", {}, [`${index + 1} of ${STEPS.length} · ${step.title}`]), el("div", { class: "text" }, step.text.map((paragraph) => el("p", {}, [paragraph]))),
      el("p", { class: "row" }, [
        button("Back", () => this.show(this.index - 1), { disabled: index === 0 }),
        button(isLast ? "Done" : "Next", () => (isLast ? this.end() : this.show(this.index + 1)), { class: "main" }),
        el("span", { class: "grow" }), button("Close", () => this.end(), { class: "plain", "aria-label": "close the tour" }),
      ]));
    step.enter(this.app);
    this.highlight(step.anchor);
    this.element.focus();
  }

  private highlight(anchor: string): void {
    document.body.dataset["pointed"] = anchor;
    this.isFollowing = anchor !== "";
    this.scrollToAnchor();
  }

  private scrollToAnchor(): void {
    if (this.isFollowing) document.querySelector(`[data-tour="${document.body.dataset["pointed"]}"]`)?.scrollIntoView({ block: "nearest" });
  }

  private end(): void {
    this.element.hidden = true;
    this.highlight("");
  }
}
