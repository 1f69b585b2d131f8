// A run in slices, so that progress is shown and the run can be stopped.

import type { Laboratory } from "../core/laboratory.ts";
import type { Progress } from "../core/types.ts";
import { button, el, fill } from "./dom.ts";
import { formatCount } from "./format.ts";

/** Wall-clock time of a slice: progress is shown at least this often. */
const SLICE_MS = 150;
const FIRST_OPERATIONS = 500;
const MAX_OPERATIONS = 1_000_000;
/** A shorter run shows no progress. */
const DELAY_MS = 500;

/**
 * Runs to the end, in slices of about `SLICE_MS`, with a progress bar in an element.
 *
 * @param isCurrent Whether the run is still needed.
 * @returns Whether the run has ended by itself.
 */
export async function runWithProgress(core: Laboratory, run: number, holder: Element, isCurrent = () => true): Promise<boolean> {
  const bar = new ProgressBar();
  fill(holder, bar.element);
  for (let operations = FIRST_OPERATIONS; ; ) {
    const start_ms = performance.now();
    const progress = await core.run(run, operations);
    const elapsed_ms = Math.max(performance.now() - start_ms, 0.1);
    bar.show(progress);
    if (!isCurrent() || bar.isStopped) return false;
    if (progress.done) return true;
    operations = Math.round(Math.min(operations * Math.max(0.25, Math.min(SLICE_MS / elapsed_ms, 8)), MAX_OPERATIONS)) || 1;
  }
}

/** A progress bar with a button that stops the run; hidden until the run has taken `DELAY_MS`. */
class ProgressBar {
  readonly element = el("p", { class: "row progress-row", hidden: true, role: "status" });
  isStopped = false;
  private readonly bar = el("progress", { max: 1, "aria-label": "progress of the simulation" });
  private readonly text = el("span", { class: "quiet" });
  private readonly start_ms = performance.now();

  constructor() {
    fill(this.element, this.bar, this.text, button("Stop", () => (this.isStopped = true)));
  }

  show({ done, fraction, completed }: Progress): void {
    this.element.hidden = done || performance.now() - this.start_ms < DELAY_MS;
    if (fraction === null) this.bar.removeAttribute("value");
    else this.bar.value = fraction;
    fill(this.text, `${formatCount(completed, "request")} simulated`);
  }
}
