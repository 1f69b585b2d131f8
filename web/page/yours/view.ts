// The view Yours: a trace or an experiment of the reader's own, and the experiment as a text to edit.

import type { App } from "../app.ts";
import type { Laboratory } from "../../core/laboratory.ts";
import type { Outcome, TraceFacts } from "../../core/types.ts";
import { button, el, fill } from "../dom.ts";
import { download } from "../download.ts";
import { isTrap, takeWorker } from "../engine.ts";
import { Experiment } from "../experiment.ts";
import { formatCapacity, formatCount, formatNumber, shorten, formatDuration } from "../format.ts";
import { overloadWarning } from "../overload.ts";
import { runWithProgress } from "../simulation.ts";

const MAX_BYTES = 300e6;
/** First bytes of a Parquet file. */
const PARQUET_MAGIC = "PAR1";

/** Work with a core. Its answer is not shown once the reader has begun other work or chosen another experiment. */
interface Task {
  readonly core: Laboratory;
  readonly isCurrent: () => boolean;
}

export class Yours {
  readonly element = el("div", { class: "yours" });
  private core: Laboratory | null = null;
  private readonly text = el("textarea", { id: "experiment", rows: 16, spellcheck: "false" });
  private readonly answer = el("div", { "aria-live": "polite" });
  private taskCount = 0;
  /** The experiment of all views when the last task began, or that of its answer. */
  private base: Experiment | null = null;
  private readonly fileInput = el("input", { type: "file", id: "file", class: "unseen", multiple: true }, [], {
    change: () => void this.attempt((task) => this.openFiles(task, [...(this.fileInput.files ?? [])])),
  });

  constructor(private readonly app: App) {
    const dropZone = el("section", { class: "drop", "aria-label": "Drop a file" }, [
      el("h2", {}, ["Drop a trace or an experiment here"]),
      el("p", { class: "quiet" }, ["A trace in a text or binary format that sledlab reads, compressed or not, but not Parquet; or an experiment, .toml. Nothing leaves this page."]),
      el("p", {}, [el("label", {}, [this.fileInput, el("span", {}, ["or "]), button("choose a file", () => this.fileInput.click())])]),
    ]);
    listenForDrops(dropZone, (files) => void this.attempt((task) => this.openFiles(task, files)));
    // A file dropped outside the field must not replace the page.
    for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
    fill(this.element, dropZone, this.answer, el("section", { class: "card" }, [
      el("h2", {}, [el("label", { for: "experiment" }, ["The experiment"])]), this.text,
      el("p", { class: "row" }, [
        button("Run and answer", () => void this.attempt((task) => this.run(task, Experiment.parse(this.text.value))), { class: "main" }),
        button("Watch it", () => this.watch()), button("Save as experiment.toml", () => download("experiment.toml", this.text.value)),
      ]),
    ]));
  }

  async show(): Promise<void> {
    this.text.value = this.app.experiment.toml;
    this.core ??= await takeWorker(this.app.traces);
  }

  /** Does work with the core. A core that has stopped has lost its traces, so another one takes its place. */
  private async attempt(action: (task: Task) => Promise<void>): Promise<void> {
    const taskNumber = ++this.taskCount;
    this.base = this.app.experiment;
    const isCurrent = () => taskNumber === this.taskCount && this.base === this.app.experiment;
    await this.app.attempt(async () => {
      const core = (this.core ??= await takeWorker(this.app.traces));
      try {
        await action({ core, isCurrent });
      } catch (error) {
        if (isTrap(error) && this.core === core) {
          core.end();
          this.core = null;
        }
        if (!isCurrent()) return;
        fill(this.answer);
        throw error;
      }
    });
  }

  private async openFiles(task: Task, files: readonly File[]): Promise<void> {
    for (const file of files) {
      if (file.size > MAX_BYTES) throw new Error(`${shorten(file.name)} has ${formatCapacity(file.size)}, more than ${formatCapacity(MAX_BYTES)}: use the command line for that.`);
      const contents = new Uint8Array(await file.arrayBuffer());
      if (file.name.toLowerCase().endsWith(".toml")) {
        await this.run(task, Experiment.parse(new TextDecoder().decode(contents)));
        continue;
      }
      if (task.isCurrent()) fill(this.answer, el("p", { class: "card" }, [`Reading ${shorten(file.name)} …`]));
      await this.replay(task, file.name, contents);
    }
  }

  private async replay(task: Task, name: string, contents: Uint8Array): Promise<void> {
    if (new TextDecoder().decode(contents.subarray(0, PARQUET_MAGIC.length)) === PARQUET_MAGIC) {
      throw new Error(`${shorten(name)} is a Parquet file, which this page does not read. Convert it: sledlab trace convert FILE.parquet trace.csv.gz`);
    }
    const facts = await task.core.putTrace(name, contents);
    this.app.traces.set(name, contents);
    await this.run(task, this.app.experiment.withTrace(name), facts);
  }

  private async run({ core, isCurrent }: Task, experiment: Experiment, facts?: TraceFacts): Promise<void> {
    if (!isCurrent()) return;
    const { run } = await core.open(experiment.toml, "experiment");
    try {
      if (!isCurrent()) return;
      const card = el("div", { class: "card" });
      fill(this.answer, card);
      const hasEnded = await runWithProgress(core, run, card, isCurrent);
      const outcome = hasEnded ? await core.outcome(run) : null;
      if (!isCurrent()) return card.remove();
      if (!outcome) return fill(this.answer, el("p", { class: "card" }, ["The run was stopped."]));
      this.base = experiment;
      this.text.value = experiment.toml;
      this.app.change(experiment);
      this.showOutcome(outcome, facts);
    } finally {
      await core.close(run);
    }
  }

  private showOutcome({ summary }: Outcome, facts?: TraceFacts): void {
    const { response_time_ms: response, energy_j: energy, flash } = summary;
    const notes: readonly string[] = summary["trace_notes"] ?? [];
    const tableRow = (name: string, value: string) => el("tr", {}, [el("td", {}, [name]), el("td", {}, [value])]);
    fill(this.answer, el("section", { class: "card" }, [
      el("h2", {}, [facts ? `${shorten(facts.name)}: ${facts.format}, ${formatCount(facts.requests, "operation")} in ${formatDuration(facts.last_ns)}` : "The answer"]),
      el("p", { class: "big" }, [`${formatNumber(response.mean)} ms mean response time`]), overloadWarning(summary.saturated),
      ...notes.map((note) => el("p", {}, [`Trace: ${note}.`])),
      el("table", {}, [el("tbody", {}, [
        tableRow("requests", Number(summary["requests"]).toLocaleString("en")), tableRow("99 % within", `${formatNumber(response.p99)} ms`), tableRow("longest", `${formatNumber(response.max)} ms`),
        tableRow("busy", `${formatNumber(summary["utilization"] * 100)} %`), tableRow("energy", `${formatNumber(energy.total)} J`),
        ...(flash?.written_pages ? [
          tableRow("write amplification", `${formatNumber(flash.write_amplification)}; in the steady state ${formatNumber(flash.steady_write_amplification)}`),
          tableRow("time of dies for garbage collection", `${formatNumber(flash.collection_share * 100)} %`),
        ] : []),
        tableRow("checksum", summary.checksum),
      ])]),
      el("p", { class: "row" }, [button("Watch it", () => this.app.show("watch"), { class: "main" }), button("Race schedulers on it", () => this.app.show("race"))]),
    ]));
  }

  private watch(): void {
    this.app.change(Experiment.parse(this.text.value));
    this.app.show("watch");
  }
}

function listenForDrops(place: HTMLElement, onDrop: (files: File[]) => void): void {
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    place.classList.remove("over");
    onDrop([...(event.dataTransfer?.files ?? [])]);
  });
}
