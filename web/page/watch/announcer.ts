// Texts for screen readers.

import { el } from "../dom.ts";

export class Announcer {
  readonly element = el("p", { class: "unseen", "aria-live": "polite" });
  private key = "";

  /** Announces a text once for each key. */
  announce(key: string, text: string): void {
    if (this.key === key) return;
    this.key = key;
    this.element.textContent = text;
  }

  /** Announces the next text even if it has the same key. */
  reset(): void {
    this.key = "";
  }
}
