// The view Watch: one run, with its stage, the last choice, one request's life, lanes and series.

import type { Laboratory } from "../../core/laboratory.ts";
import { el, fill, select } from "../dom.ts";
import { worker } from "../engine.ts";
import { Experiment } from "../experiment.ts";
import { ChoicePanel, sentence, surprise } from "./choice.ts";
import { ChoiceTable } from "./table.ts";
import type { WatchHost } from "./host.ts";
import { Lanes } from "./lanes.ts";
import { Following } from "./following.ts";
import { LifePanel, requestLife } from "./life.ts";
import { nextStartup, overview, rowOf, type Overview } from "./overview.ts";
import { Player } from "./player.ts";
import { SeriesPanel } from "./series.ts";
import { SlotsPanel } from "./slots.ts";
import { SmallStages } from "./small.ts";
import { around_ns, SPEEDS } from "./speed.ts";
import { stageOf, type Stage } from "./stages.ts";
import { Transport } from "./transport.ts";

/** Operations simulated between two checks for cancellation. */
const SLICE = 50_000;

export class Watch {
  readonly element = el("div", { class: "watch" });
  private readonly transport: Transport;
  private readonly series = new SeriesPanel((t) => void this.jump(t));
  private readonly live = el("p", { class: "unseen", "aria-live": "polite" });
  private readonly foot = el("p", { class: "quiet wide" });
  private choice: ChoicePanel | null = null;
  private life: LifePanel | null = null;
  private table: ChoiceTable | null = null;
  private lanes: Lanes | null = null;
  private small: SmallStages | null = null;
  private slots: readonly SlotsPanel[] = [];
  private stage: Stage | null = null;
  private player: Player | null = null;
  private whole: Overview | null = null;
  private workers: Laboratory[] = [];
  private station = 0;
  private readonly following = new Following();
  private scheduler = "";
  private shown = "";
  private opened = 0;
  private waiting: (() => void)[] = [];
  private tabled = false;
  private pictured = false;

  constructor(private readonly host: WatchHost) {
    this.transport = new Transport({
      play: () => this.play(), step: (steps) => void this.step(steps), speed: (index) => this.speed(index),
      slowest: () => void this.slowest(), startup: () => void this.startup(), request: (id) => void this.request(id),
      start: () => void this.jump(0), end: () => void this.jump(this.whole?.end_ns ?? 0),
    });
  }

  /** Opens an experiment at an instant; plays at once if `playing`. */
  async open(experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>, playing: boolean, at = 0): Promise<void> {
    const mine = ++this.opened;
    this.player?.close();
    fill(this.foot);
    const [watching, telling] = await this.begin(traces);
    if (mine !== this.opened) return;
    const player = await Player.open(watching, experiment.toml, at, () => this.draw(true), (error) => this.host.fail(error));
    if (mine !== this.opened) return;
    player.speed = this.player?.speed ?? player.speed;
    player.playing = playing;
    this.player = player;
    this.whole = null;
    this.following.clear();
    this.shown = "";
    this.scheduler = (Experiment.of(player.opened.toml).get("scheduler", "kind") ?? "").toUpperCase();
    this.station = 0;
    this.choice = new ChoicePanel((id) => void this.access(id));
    this.life = new LifePanel();
    this.table = new ChoiceTable();
    this.series.clear();
    this.stage = stageOf(player, 0, telling, () => this.draw(true));
    this.lanes = new Lanes(player.opened.stations.map(({ name: each }, index) => `${index + 1} ${each}`));
    this.small = player.opened.stations.length > 1 ? new SmallStages(player, (station) => this.choose(station)) : null;
    this.slots = player.loaded.window.watched.residencies.map((each, index) => new SlotsPanel(index, each, player.opened.stations.length));
    this.compose();
    this.draw(true);
    void this.run(telling, experiment, mine);
  }

  frame(elapsed_ms: number): void {
    if (this.player?.frame(elapsed_ms)) this.draw(false);
    else if (this.stage?.stale) this.draw(true);
  }

  play(): void {
    const player = this.player;
    if (!player) return;
    player.playing = !player.playing;
    if (player.playing && player.ended) void player.jump(0);
    this.draw(true);
    this.keep();
  }

  speed(index: number): void {
    if (!this.player) return;
    this.player.speed = Math.max(0, Math.min(SPEEDS.length - 1, index));
    this.draw(true);
  }

  faster(steps: number): void {
    this.speed((this.player?.speed ?? 0) + steps);
  }

  async step(steps: number): Promise<void> {
    this.following.clear();
    await this.attempt(async () => this.player?.step(steps));
  }

  async jump(t: number): Promise<void> {
    await this.attempt(async () => this.player?.jump(t));
    this.keep();
  }

  async toEnd(): Promise<void> {
    if (this.whole) await this.jump(this.whole.end_ns);
  }

  async slowest(): Promise<void> {
    if (this.whole) await this.request(this.whole.rows.id[this.whole.slowest]!);
  }

  async startup(): Promise<void> {
    const next = this.whole && this.player ? nextStartup(this.whole, this.player.t) : null;
    if (next !== null) await this.jump(next);
  }

  /** Calls `act` once the whole run has been simulated. */
  whenSimulated(act: () => void): void {
    if (this.whole) act();
    else this.waiting.push(act);
  }

  /** Goes to the instant at which a request is chosen, and follows the request. */
  async request(id: number): Promise<void> {
    if (!this.whole || !this.player) return;
    const row = rowOf(this.whole.rows, id);
    if (row === null) {
      this.host.fail(new Error(`No request has the number ${id}: they go from 0 to ${this.whole.requests - 1}.`));
      return;
    }
    this.player.playing = false;
    const device = this.whole.rows.device[row] ?? -1;
    if (device >= 0 && device !== this.station) this.choose(device);
    this.following.request(requestLife(this.whole.rows, row));
    await this.jump(this.whole.rows.start_ns[row]!);
  }

  /** Follows an access of the station on the stage; goes to the instant at which it is chosen, if the window has that. */
  private async access(id: number): Promise<void> {
    const { player } = this;
    if (!player || !this.renumbers) return this.request(id);
    const { window } = player.loaded;
    const start_ns = window.watched.accesses.start_ns[window.row(id, this.station) ?? -1] ?? Infinity;
    player.playing = false;
    this.following.access(id);
    await this.jump(Number.isFinite(start_ns) ? start_ns : player.t);
  }

  /** Whether the accesses of stations have other numbers than the requests of the host: in arrays, hybrids and behind a cache. */
  private get renumbers(): boolean {
    return this.slots.length > 0 || (this.player?.opened.stations.length ?? 1) > 1;
  }

  /** Plays on from an instant in s, as the tour does. */
  goOn(t_s: number): void {
    void this.jump(t_s * 1e9).then(() => {
      if (this.player && !this.player.playing) this.play();
    });
  }

  /** Stands still at the first choice after an instant in s. */
  pauseAt(t_s: number): void {
    void this.jump(t_s * 1e9).then(() => this.step(1));
  }

  focusNumber(): void {
    this.transport.number.focus();
  }

  follow(): void {
    const window = this.player?.loaded.window;
    const row = window?.latest(this.player!.t, this.station) ?? null;
    this.following.toggle(row === null ? null : window!.watched.accesses.id[row]!);
    this.draw(true);
  }

  toggleMap(): void {
    this.stage?.toggleMap();
    this.draw(true);
  }

  toggleTable(): void {
    this.tabled = !this.tabled;
    this.shown = "";
    this.compose();
    this.draw(true);
  }

  private async begin(traces: ReadonlyMap<string, Uint8Array>): Promise<[Laboratory, Laboratory]> {
    for (const each of this.workers) each.end();
    this.workers = await Promise.all([worker(traces), worker(traces)]);
    return this.workers as [Laboratory, Laboratory];
  }

  /** Simulates the whole run, in slices, for the series and the jumps. */
  private async run(core: Laboratory, experiment: Experiment, mine: number): Promise<void> {
    try {
      const { run } = await core.open(experiment.toml, "experiment");
      while (!(await core.run(run, SLICE)).done) if (mine !== this.opened) return;
      const [rows, { summary }] = [await core.rows(run), await core.outcome(run)];
      await core.close(run);
      if (mine !== this.opened) return;
      this.whole = overview(rows);
      this.series.show(this.whole, summary.saturated);
      this.transport.enable(this.whole.startups.length > 0);
      fill(this.foot, "Checksum of all completion times: ", el("code", { id: "checksum", "data-run": mine }, [summary.checksum]), ", the same as on the command line and in Python.");
      this.draw(true);
      for (const act of this.waiting.splice(0)) act();
    } catch (error) {
      if (mine === this.opened) this.host.fail(error);
    }
  }

  private compose(): void {
    const stations = this.player!.opened.stations;
    const chooser = stations.length > 1
      ? select("device", stations.map(({ name }, index) => [String(index), `${index + 1} ${name}`] as const), String(this.station), (value) => this.choose(Number(value)))
      : null;
    const stage = el("section", { class: "card stage", "aria-label": "The stage", "data-tour": "stage" },
      [chooser, ...(this.tabled ? [this.table!.element] : this.stage!.elements)]);
    fill(this.element, this.transport.element, this.small?.element, stage, el("div", { class: "side" }, [this.choice!.element, this.life!.element]),
      ...this.residencies().map((each) => each.element), this.lanes!.element, this.series.element, this.foot, this.live);
  }

  /** The panels of the cache in front of all devices, and of the hybrid whose device is on the stage. */
  private residencies(): readonly SlotsPanel[] {
    const own = this.slots.filter(({ station }) => station !== null && station <= this.station).at(-1);
    return this.slots.filter((each) => each.station === null || each === own);
  }

  private choose(station: number): void {
    this.station = station;
    this.following.clear();
    this.shown = "";
    this.stage = this.stage!.other(station);
    this.compose();
    this.draw(true);
  }

  private draw(still: boolean): void {
    const player = this.player;
    if (!player || !this.stage) return;
    const { t, loaded: { window } } = player;
    const choice = window.choice(t, this.station);
    const waiting = window.waiting(t, this.station);
    this.transport.show(t, player.playing, player.speed);
    this.stage.draw(t, waiting, choice, still || !player.playing);
    if (!this.pictured) performance.mark("first-picture");
    this.pictured = true;
    this.choice!.show(window, choice, waiting[0] ?? null, t);
    const noun = this.renumbers ? (this.following.isRequest ? "request " : "access ") : "";
    this.life!.show(this.following.life(window, t, this.station), noun, t, Boolean(player.opened.stations[this.station]?.sled));
    const around = around_ns(SPEEDS[player.speed]!);
    this.lanes!.show(window, t, around);
    for (const each of this.residencies()) each.show(window, t, around, still || !player.playing);
    this.small?.show(t, this.station);
    this.series.mark(t);
    if (!player.playing) this.tell(choice ? `${window.from} ${choice.index}` : "", choice ? `${sentence(window, choice, this.scheduler)} ${surprise(window, choice)}` : "Nothing was chosen yet.");
    if (this.tabled) this.table!.show(window, t, this.station);
  }

  /** Announces the choice to screen readers, once. */
  private tell(key: string, text: string): void {
    if (this.shown === key) return;
    this.shown = key;
    this.live.textContent = text;
  }

  private keep(): void {
    const { isRequest, id } = this.following;
    if (this.player) this.host.keep({ t: this.player.t, request: isRequest || !this.renumbers ? id : null });
  }

  private async attempt(what: () => Promise<void> | undefined): Promise<void> {
    const mine = this.opened;
    try {
      await what();
    } catch (error) {
      if (mine === this.opened) this.host.fail(error);
    }
  }
}
