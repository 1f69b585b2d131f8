// The frame of the page: its views as tabs, the experiment that they share, messages, and the address.

import type { Catalog } from "../core/types.ts";
import { button, el, fill, setAttribute } from "./dom.ts";
import { startSpareWorkers, takeWorker, errorText } from "./engine.ts";
import { Experiment } from "./experiment.ts";
import { readEmbedded, decodeTraces } from "./embedded.ts";
import { parseAddress, formatAddress, type Address } from "./hash.ts";
import { help } from "./help.ts";
import { listen, type Keys } from "./keys.ts";
import { brand } from "./brand.ts";
import { followTheme } from "./palette.ts";
import { prepareForPrint } from "./print.ts";
import { DEFAULT_EXPERIMENT, DEFAULT_START_NS, Setup } from "./setup.ts";
import { createViews, type View, type Views } from "./views.ts";
import type { Place } from "./watch/host.ts";
import { Watch } from "./watch/view.ts";

/** What each view shows, for visitors who have not heard of MEMS storage. */
const WHAT: Readonly<Record<View, string>> = {
  watch: "A MEMS storage device, simulated in this tab: a sled moves under thousands of tips. Each mark is a request that waits; the scheduler chooses the next one.",
  race: "Runs that differ in one choice, simulated side by side in this tab: which answers sooner, and what does it cost?",
  design: "The physics of a MEMS sled that moves under thousands of tips: what do stronger springs, smaller bits or more tips change?",
  yours: "A trace or an experiment of your own, simulated in this tab.",
};

const VISITED_KEY = "sledlab-visited";

/** Returns whether the browser shows the page for the first time; false in a frame of another page, such as a notebook. */
function isFirstVisit(): boolean {
  if (parent !== window) return false;
  try {
    const wasVisited = localStorage.getItem(VISITED_KEY) !== null;
    localStorage.setItem(VISITED_KEY, "1");
    return !wasVisited;
  } catch {
    return false;
  }
}

export class App {
  private readonly messages = el("div", { role: "alert" });
  private readonly what = el("p", { class: "quiet what" });
  private readonly body = el("div", { role: "tabpanel", id: "view" });
  private readonly tabs: Readonly<Record<View, HTMLButtonElement>>;
  private readonly setup: Setup;
  private readonly views: Views;
  private readonly helpDialog: HTMLDialogElement;
  private view: View = "watch";
  private place: Place = { t: 0, request: null };
  private isStale = true;

  private constructor(
    page: HTMLElement, readonly catalog: Catalog, private readonly watch: Watch, public experiment: Experiment,
    readonly traces: Map<string, Uint8Array>,
  ) {
    this.setup = new Setup(catalog, experiment, (changed) => this.change(changed));
    this.views = createViews(this);
    this.tabs = Object.fromEntries((["watch", "race", "design", "yours"] as const).map((name) => [name, this.tab(name)])) as Record<View, HTMLButtonElement>;
    this.helpDialog = help(this.keys(), catalog.version);
    const tour = button("Tour", () => this.views.tour.begin(), { "data-tour": "tour" });
    const frame = el("div", { class: "frame" }, [
      el("header", { class: "top" }, [
        el("h1", { class: "brand" }, [brand(), "sledlab"]),
        el("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, Object.values(this.tabs)),
        el("span", { class: "grow" }), tour, button("Share", () => void this.share(), {}), button("?", () => this.helpDialog.showModal(), { "aria-label": "help", key: "?" }),
      ]),
      this.what, this.views.tour.element, this.messages, this.setup.element, this.body,
    ]);
    fill(page, frame, this.helpDialog);
    prepareForPrint(frame);
    listen(() => this.keys());
  }

  static async start(page: HTMLElement): Promise<App> {
    let app: App | undefined;
    followTheme(() => {
      app?.watch.draw();
      app?.views.design.draw();
    });
    startSpareWorkers(3);
    const input = readEmbedded();
    const address = await parseAddress(location.hash).catch((error: unknown) => error as Error);
    const startAddress: Address = address instanceof Error ? {} : address;
    const experimentText = startAddress.experiment ?? input?.experiment;
    const [experiment, traces] = [experimentText === undefined ? DEFAULT_EXPERIMENT : Experiment.parse(experimentText), decodeTraces(input)];
    const errors: unknown[] = address instanceof Error ? [address] : [];
    const fail = (error: unknown) => (app ? app.fail(error) : errors.push(error));
    const watch = new Watch({ fail, clearMessage: () => app?.clearMessage(), savePlace: (place) => app?.savePlace(place) });
    const view = (["watch", "race", "design", "yours"] as const).find((name) => name === startAddress.view) ?? "watch";
    const place: Place = { t: startAddress.t ?? (experimentText === undefined ? DEFAULT_START_NS : 0), request: startAddress.request ?? null };
    const isStill = startAddress.t !== undefined || place.request !== null;
    // The run and the catalog load in parallel: the first picture needs both.
    if (view === "watch") void begin(watch, experiment, traces, place, isStill).catch(fail);
    const core = await takeWorker();
    app = new App(page, await core.catalog(), watch, experiment, traces);
    core.end();
    app.place = place;
    app.isStale = view !== "watch";
    app.setup.show(experiment, [...traces.keys()]);
    app.show(view);
    for (const error of errors) app.fail(error);
    app.animate();
    if (experimentText === undefined && view === "watch" && !isStill && isFirstVisit()) app.views.tour.begin();
    const around = isStill ? undefined : input?.around;
    if (around === "slowest") watch.whenSimulated(() => void watch.jumpToSlowest());
    else if (typeof around === "number") watch.whenSimulated(() => void watch.jumpToRequest(around));
    return app;
  }

  /** Replaces the experiment: all views begin anew. */
  change(experiment: Experiment): void {
    this.experiment = experiment;
    this.setup.show(experiment, [...this.traces.keys()]);
    this.place = { t: 0, request: null };
    this.isStale = true;
    this.show(this.view);
  }

  show(view: View): void {
    if (view !== this.view) fill(this.messages);
    this.view = view;
    for (const [name, tab] of Object.entries(this.tabs)) {
      setAttribute(tab, "aria-selected", String(name === view));
      tab.tabIndex = name === view ? 0 : -1;
    }
    fill(this.what, WHAT[view]);
    this.setup.element.hidden = view === "design" || view === "yours";
    fill(this.body, view === "watch" ? this.watch.element : this.views[view].element);
    setAttribute(this.body, "aria-labelledby", `tab-${view}`);
    void this.attempt(async () => {
      if (view === "watch") await this.open();
      else await this.views[view].show();
    });
  }

  fail(error: unknown): void {
    const closeButton = button("Close", () => fill(this.messages), { "aria-label": "close the message" });
    fill(this.messages, el("div", { class: "message" }, [el("p", { class: "grow" }, [errorText(error)]), closeButton]));
  }

  private clearMessage(): void {
    fill(this.messages);
  }

  get watchView(): Watch {
    return this.watch;
  }

  get raceView(): Views["race"] {
    return this.views.race;
  }

  async attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.fail(error);
    }
  }

  private async open(): Promise<void> {
    if (!this.isStale) return;
    this.isStale = false;
    fill(this.messages);
    await begin(this.watch, this.experiment, this.traces, this.place, false);
  }

  private animate(): void {
    let lastFrame_ms = performance.now();
    const drawFrame = (now_ms: number) => {
      if (this.view === "watch") this.watch.frame(now_ms - lastFrame_ms);
      lastFrame_ms = now_ms;
      requestAnimationFrame(drawFrame);
    };
    requestAnimationFrame(drawFrame);
  }

  private tab(name: View): HTMLButtonElement {
    const label = name[0]!.toUpperCase() + name.slice(1);
    const tab = button(label, () => this.show(name), { role: "tab", id: `tab-${name}`, "aria-controls": "view" });
    tab.addEventListener("keydown", (event) => {
      const names = Object.keys(this.tabs) as View[];
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const next = names[(names.indexOf(name) + step + names.length) % names.length]!;
      this.show(next);
      this.tabs[next].focus();
    });
    return tab;
  }

  private savePlace(place: Place): void {
    this.place = place;
    void formatAddress(this.address(place)).then(setAddress);
  }

  /** The place that the view Watch shows, also while it plays; that at which it will begin if it has not been opened. */
  private get shownPlace(): Place {
    return (this.isStale ? null : this.watch.place) ?? this.place;
  }

  private address({ t, request }: Place): Address {
    return { view: this.view, t, ...(request === null ? {} : { request }) };
  }

  /** Puts the experiment and the place into the address, and the address on the clipboard where that is allowed. */
  private async share(): Promise<void> {
    await this.attempt(async () => {
      const hash = await formatAddress({ ...this.address(this.shownPlace), experiment: this.experiment.toml });
      setAddress(hash);
      const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
      const traceNote = this.experiment.has("trace") ? " Opening it requires the trace too." : "";
      this.notify(`${isCopied ? "The address of this place is on the clipboard" : "The address bar holds this place"}: the experiment and the instant are in it.${traceNote}`);
    });
  }

  private notify(text: string): void {
    fill(this.messages, el("div", { class: "message notice" }, [el("p", { class: "grow" }, [text]), button("Close", () => fill(this.messages))]));
  }

  private keys(): Keys {
    const { watch } = this;
    const ifWatching = (act: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
      if (this.view === "watch") act(event);
    };
    const step = (count: number) => ifWatching((event) => void watch.step(event.shiftKey ? 10 * count : count));
    const changeSpeed = (count: number) => ifWatching(() => watch.changeSpeed(count));
    return {
      " ": { label: "Space", meaning: "play or pause", act: ifWatching(() => watch.togglePlaying()) },
      ArrowRight: { label: "→", meaning: "next choice; with Shift ten", act: step(1) },
      ArrowLeft: { label: "←", meaning: "previous choice; with Shift ten", act: step(-1) },
      "+": { meaning: "faster; also ↑", act: changeSpeed(1) },
      "-": { label: "−", meaning: "slower; also ↓", act: changeSpeed(-1) },
      ArrowUp: { meaning: "", act: changeSpeed(1) },
      ArrowDown: { meaning: "", act: changeSpeed(-1) },
      Home: { label: "Home", meaning: "the beginning", act: ifWatching(() => void watch.jump(0)) },
      End: { label: "End", meaning: "the end", act: ifWatching(() => void watch.jumpToEnd()) },
      s: { meaning: "the slowest request", act: ifWatching(() => void watch.jumpToSlowest()) },
      n: { meaning: "the next start-up", act: ifWatching(() => void watch.jumpToStartup()) },
      j: { meaning: "go to a request by its number", act: ifWatching(() => watch.focusNumber()) },
      l: { meaning: "follow the request that is served, or stop following", act: ifWatching(() => watch.toggleFollowing()) },
      h: { meaning: "seek-time map on or off", act: ifWatching(() => watch.toggleMap()) },
      t: { meaning: "choices as a table in place of the stage", act: ifWatching(() => watch.toggleTable()) },
      "?": { meaning: "this help", act: () => this.helpDialog.showModal() },
    };
  }
}

/** Puts the hash into the address; a page inside of another, as in a notebook, has no address of its own. */
function setAddress(hash: string): void {
  if (location.protocol !== "about:") history.replaceState(null, "", hash);
}

/** Opens a run at an instant; plays from there unless the page is to stand still, or the reader prefers reduced motion. */
async function begin(watch: Watch, experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>, { t, request }: Place, isStill: boolean): Promise<void> {
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  await watch.open(experiment, traces, !reducedMotion && !isStill, t);
  if (request !== null) watch.whenSimulated(() => void watch.jumpToRequest(request));
}
