// The view Watch: one run, with its stage, the last choice, one request's timeline, lanes and series.

import type { Laboratory } from "../../core/laboratory.ts";
import { el, fill, select } from "../dom.ts";
import { takeWorker } from "../engine.ts";
import { Experiment, warmupOperations } from "../experiment.ts";
import { Announcer } from "./announcer.ts";
import { ChoicePanel, describeChoice, describeDeviation } from "./choice.ts";
import { ChoiceTable } from "./table.ts";
import type { Place, WatchHost } from "./host.ts";
import { Lanes } from "./lanes.ts";
import { FollowTarget } from "./target.ts";
import { TimelinePanel, requestTimeline } from "./timeline.ts";
import { idRange, nextStartup, summarize, rowById, type Overview } from "./overview.ts";
import { Player } from "./player.ts";
import { runWithProgress } from "../simulation.ts";
import { SeriesPanel } from "./series.ts";
import { SlotsPanel, visiblePanels } from "./slots.ts";
import { StageThumbnails } from "./thumbnails.ts";
import { halfSpan_ns, SPEEDS } from "./speed.ts";
import { createStage, type Stage } from "./stages.ts";
import { Transport } from "./transport.ts";

export class Watch {
  readonly element = el("div", { class: "watch" });
  private readonly transport: Transport;
  private readonly seriesPanel = new SeriesPanel((t) => void this.jump(t));
  private readonly announcer = new Announcer();
  private readonly foot = el("p", { class: "quiet wide" });
  private choicePanel: ChoicePanel | null = null;
  private timelinePanel: TimelinePanel | null = null;
  private choiceTable: ChoiceTable | null = null;
  private lanes: Lanes | null = null;
  private thumbnails: StageThumbnails | null = null;
  private slotsPanels: readonly SlotsPanel[] = [];
  private stage: Stage | null = null;
  private player: Player | null = null;
  private overview: Overview | null = null;
  private workers: readonly [Laboratory, Laboratory] | readonly [] = [];
  private station = 0;
  private readonly followTarget = new FollowTarget();
  private scheduler = "";
  private openCount = 0;
  /** Value of `openCount` for the run of the player: another run is being opened where they differ. */
  private playerNumber = 0;
  private pendingActions: (() => void)[] = [];
  private showsTable = false;
  private hasDrawn = false;

  constructor(private readonly host: WatchHost) {
    this.transport = new Transport({
      togglePlaying: () => this.togglePlaying(), step: (steps) => void this.step(steps), setSpeed: (index) => this.setSpeed(index),
      jumpToSlowest: () => void this.jumpToSlowest(), jumpToStartup: () => void this.jumpToStartup(), jumpToRequest: (id) => void this.jumpToRequest(id),
      start: () => void this.jump(0), end: () => void this.jumpToEnd(),
    });
  }

  /** Opens an experiment at an instant; plays immediately if `isPlaying`. */
  async open(experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>, isPlaying: boolean, start_ns = 0): Promise<void> {
    const openNumber = ++this.openCount;
    this.player?.close();
    fill(this.foot);
    for (const each of this.workers) each.end();
    this.workers = [];
    try {
      await this.replaceRun(openNumber, experiment, traces, isPlaying, start_ns);
    } catch (error) {
      // The error of a run that another one has replaced is not shown.
      if (openNumber === this.openCount) throw error;
    }
  }

  private async replaceRun(openNumber: number, experiment: Experiment, traces: ReadonlyMap<string, Uint8Array>, isPlaying: boolean, start_ns: number): Promise<void> {
    const workers = await Promise.all([takeWorker(traces), takeWorker(traces)]);
    if (openNumber !== this.openCount) return workers.forEach((each) => each.end());
    this.workers = workers;
    const [windowCore, runCore] = workers;
    const player = await Player.open(windowCore, experiment.toml, start_ns, () => this.draw(), (error) => this.host.fail(error));
    if (openNumber !== this.openCount) return;
    player.speedIndex = this.player?.speedIndex ?? player.speedIndex;
    player.isPlaying = isPlaying;
    this.player = player;
    this.playerNumber = openNumber;
    this.overview = null;
    this.followTarget.clear();
    this.announcer.reset();
    this.scheduler = (Experiment.parse(player.description.toml).get("scheduler", "kind") ?? "").toUpperCase();
    this.station = 0;
    this.choicePanel = new ChoicePanel((id) => void this.jumpToAccess(id));
    this.timelinePanel = new TimelinePanel();
    this.choiceTable = new ChoiceTable();
    this.seriesPanel.clear();
    this.stage = createStage(player, 0, runCore, () => this.draw());
    this.lanes = new Lanes(player.description.stations.map(({ name: each }, index) => `${index + 1} ${each}`));
    this.thumbnails = player.description.stations.length > 1 ? new StageThumbnails(player, (station) => this.choose(station)) : null;
    this.slotsPanels = player.loadedWindow.window.data.residencies.map((each, index) => new SlotsPanel(index, each, player.description.stations.length));
    this.compose();
    this.draw();
    void this.run(runCore, experiment, openNumber);
  }

  frame(elapsed_ms: number): void {
    if (this.player?.frame(elapsed_ms)) this.draw(false);
    else if (this.stage?.isStale) this.draw();
  }

  togglePlaying(): void {
    const player = this.player;
    if (!player) return;
    player.isPlaying = !player.isPlaying;
    if (player.isPlaying && player.hasEnded) void player.jump(0);
    this.draw();
    this.savePlace();
  }

  setSpeed(index: number): void {
    if (!this.player) return;
    this.player.speedIndex = Math.max(0, Math.min(SPEEDS.length - 1, index));
    this.draw();
  }

  changeSpeed(steps: number): void {
    this.setSpeed((this.player?.speedIndex ?? 0) + steps);
  }

  async step(steps: number): Promise<void> {
    this.followTarget.clear();
    await this.attempt(async () => this.player?.step(steps));
  }

  async jump(t: number): Promise<void> {
    await this.attempt(async () => this.player?.jump(t));
  }

  async jumpToEnd(): Promise<void> {
    if (this.overview) await this.jump(this.overview.end_ns);
  }

  async jumpToSlowest(): Promise<void> {
    if (this.overview) await this.jumpToRequest(this.overview.rows.id[this.overview.slowest]!);
  }

  async jumpToStartup(): Promise<void> {
    const next = this.overview && this.player ? nextStartup(this.overview, this.player.t) : null;
    if (next !== null) await this.jump(next);
  }

  /** Calls `act` once the whole run has been simulated. */
  whenSimulated(act: () => void): void {
    if (this.overview) act();
    else this.pendingActions.push(act);
  }

  /** Goes to the instant at which a request is chosen, and follows the request. */
  async jumpToRequest(id: number): Promise<void> {
    if (!this.overview || !this.player) return;
    const { rows } = this.overview;
    const row = rowById(rows, id);
    if (row === null) return this.host.fail(new Error(`No read or write has the number ${id}: their numbers go from ${idRange(rows).join(" to ")}.`));
    this.host.clearMessage();
    this.player.isPlaying = false;
    const device = rows.device[row] ?? -1;
    if (device >= 0 && device !== this.station) this.choose(device);
    this.followTarget.followRequest(requestTimeline(rows, row));
    await this.jump(rows.start_ns[row]!);
  }

  /** Follows an access of the station on the stage; goes to the instant at which it is chosen, if the window has that. */
  private async jumpToAccess(id: number): Promise<void> {
    const { player } = this;
    if (!player || !this.isRenumbered) return this.jumpToRequest(id);
    const { window } = player.loadedWindow;
    const start_ns = window.data.accesses.start_ns[window.row(id, this.station) ?? -1] ?? Infinity;
    player.isPlaying = false;
    this.followTarget.followAccess(id);
    await this.jump(Number.isFinite(start_ns) ? start_ns : player.t);
  }

  /** Whether the accesses of stations have other numbers than the requests of the host: in arrays, hybrids and behind a cache. */
  private get isRenumbered(): boolean {
    return this.slotsPanels.length > 0 || (this.player?.description.stations.length ?? 1) > 1;
  }

  /** Plays on from an instant in s, as the tour does. */
  playFrom(t_s: number): void {
    void this.jump(t_s * 1e9).then(() => {
      if (this.player && !this.player.isPlaying) this.togglePlaying();
    });
  }

  focusNumber(): void {
    this.transport.requestInput.focus();
  }

  toggleFollowing(): void {
    const window = this.player?.loadedWindow.window;
    const row = window?.lastStartedRow(this.player!.t, this.station) ?? null;
    this.followTarget.toggle(row === null ? null : window!.data.accesses.id[row]!);
    this.draw();
    this.savePlace();
  }

  toggleMap(): void {
    this.stage?.toggleMap();
    this.draw();
  }

  toggleTable(): void {
    this.showsTable = !this.showsTable;
    this.announcer.reset();
    this.compose();
    this.draw();
  }

  /** Simulates the whole run, in slices, for the series and the jumps. */
  private async run(core: Laboratory, experiment: Experiment, openNumber: number): Promise<void> {
    try {
      const { run, toml } = await core.open(experiment.toml, "experiment");
      const hasEnded = await runWithProgress(core, run, this.seriesPanel.progress, () => openNumber === this.openCount);
      if (openNumber !== this.openCount) return;
      if (!hasEnded) return this.seriesPanel.showStopped();
      const [rows, { summary }] = [await core.rows(run), await core.outcome(run)];
      await core.close(run);
      if (openNumber !== this.openCount) return;
      this.overview = summarize(rows, warmupOperations(toml));
      this.seriesPanel.show(this.overview, summary.saturated);
      this.transport.enableJumps(this.overview.startups.length > 0);
      fill(this.foot, "Checksum of all completion times: ", el("code", { id: "checksum", "data-run": openNumber }, [summary.checksum]), ", the same as on the command line and in Python.");
      this.draw();
      for (const act of this.pendingActions.splice(0)) act();
    } catch (error) {
      if (openNumber === this.openCount) this.host.fail(error);
    }
  }

  private compose(): void {
    const stations = this.player!.description.stations;
    const chooser = stations.length > 1
      ? select("device", stations.map(({ name }, index) => [String(index), `${index + 1} ${name}`] as const), String(this.station), (value) => this.choose(Number(value)))
      : null;
    const stage = el("section", { class: "card stage", "aria-label": "The stage", "data-tour": "stage" },
      [chooser, this.showsTable ? this.choiceTable!.element : this.stage!.element]);
    fill(this.element, this.transport.element, this.thumbnails?.element, stage, el("div", { class: "side" }, [this.choicePanel!.element, this.timelinePanel!.element]),
      ...visiblePanels(this.slotsPanels, this.station).map((each) => each.element), this.lanes!.element, this.seriesPanel.element, this.foot, this.announcer.element);
  }

  private choose(station: number): void {
    this.station = station;
    this.followTarget.clear();
    this.announcer.reset();
    this.stage = this.stage!.forStation(station);
    this.compose();
    this.draw();
  }

  /** Draws the present; `isStill` if it does not change with the next frame. */
  draw(isStill = true): void {
    const player = this.player;
    if (!player || !this.stage) return;
    const { t, loadedWindow: { window } } = player;
    const choice = window.choice(t, this.station);
    const waiting = window.waitingRows(t, this.station);
    this.transport.show(t, player.isPlaying, player.speedIndex);
    this.stage.draw(t, waiting, choice, isStill || !player.isPlaying);
    if (!this.hasDrawn) performance.mark("first-picture");
    this.hasDrawn = true;
    this.choicePanel!.show(window, choice, waiting[0] ?? null, t);
    const noun = this.isRenumbered ? (this.followTarget.isRequest ? "request " : "access ") : "";
    this.timelinePanel!.show(this.followTarget.timeline(window, t, this.station), noun, t, Boolean(player.description.stations[this.station]?.sled));
    const half_ns = halfSpan_ns(SPEEDS[player.speedIndex]!);
    this.lanes!.show(window, t, half_ns);
    for (const each of visiblePanels(this.slotsPanels, this.station)) each.show(window, t, half_ns, isStill || !player.isPlaying);
    this.thumbnails?.show(t, this.station);
    this.seriesPanel.mark(t);
    if (!player.isPlaying) this.announcer.announce(choice ? `${window.from_ns} ${choice.index}` : "", choice ? `${describeChoice(window, choice, this.scheduler)} ${describeDeviation(window, choice)}` : "Nothing was chosen yet.");
    if (this.showsTable) this.choiceTable!.show(window, t, this.station);
  }

  /** The place that is shown; null while a run is being opened. */
  get place(): Place | null {
    if (!this.player || this.playerNumber !== this.openCount) return null;
    const { isRequest, id } = this.followTarget;
    return { t: this.player.t, request: isRequest || !this.isRenumbered ? id : null };
  }

  private savePlace(): void {
    if (this.place) this.host.savePlace(this.place);
  }

  /** Goes to another place, and keeps it in the address. */
  private async attempt(action: () => Promise<void> | undefined): Promise<void> {
    const openNumber = this.openCount;
    try {
      await action();
      this.savePlace();
    } catch (error) {
      if (openNumber === this.openCount) this.host.fail(error);
    }
  }
}
