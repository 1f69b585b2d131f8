// A clock over a run: plays, steps and jumps, and loads the windows around the present.

import type { Laboratory } from "../../core/laboratory.ts";
import type { Opened } from "../../core/types.ts";
import { instants, Path } from "./path.ts";
import { advance, FIRST, SPEEDS } from "./speed.ts";
import { Window } from "./window.ts";

/** Accesses of the first window, and of all later ones. */
const FIRST_ACCESSES = 200;
const ACCESSES = 1000;
/** How much time before its instant a window after a jump shows, in ns. */
const LOOK_BACK_NS = 20e6;

/** A window, and the paths of the stations' mechanisms in it. */
export interface Loaded {
  readonly window: Window;
  readonly paths: readonly Path[];
}

export class Player {
  t = 0;
  playing = false;
  speed = FIRST;
  /** Whether the window that is shown is the last of the run. */
  private last = false;
  private next: Promise<Loaded> | null = null;
  private ready: Loaded | null = null;
  private jumps = 0;

  private constructor(
    private readonly core: Laboratory,
    readonly opened: Opened,
    /** Called when the instant or the window changes other than by playing. */
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
    public loaded: Loaded,
  ) {
    this.show(loaded);
  }

  /** Opens a run and loads it around an instant. */
  static async open(core: Laboratory, toml: string, t: number, changed: () => void, failed: (error: unknown) => void): Promise<Player> {
    const opened = await core.open(toml, "experiment");
    const player = new Player(core, opened, changed, failed, await load(core, opened, Math.max(0, t - LOOK_BACK_NS), FIRST_ACCESSES));
    player.t = Math.min(t, player.loaded.window.to);
    return player;
  }

  get ended(): boolean {
    return this.last && this.t >= this.loaded.window.to;
  }

  /** Stops playing, and drops the windows that are being loaded. */
  close(): void {
    this.jumps++;
    this.playing = false;
  }

  /** Advances the clock by a frame, if it plays; returns whether it did. */
  frame(elapsed_ms: number): boolean {
    const { window } = this.loaded;
    if (this.t > window.from + (window.to - window.from) / 2) this.fetch();
    if (!this.playing) return false;
    const speed = SPEEDS[this.speed]!;
    this.t = Math.min(window.to, this.t + (speed === Infinity ? Infinity : advance(speed, elapsed_ms)));
    if (this.t >= window.to) this.turn();
    if (this.ended) this.playing = false;
    return true;
  }

  /** Goes so many choices on, or back; loads another window where that is needed. */
  async step(steps: number): Promise<void> {
    this.playing = false;
    const { window } = this.loaded;
    const at = window.step(this.t, steps);
    if (at !== null) this.t = at;
    else if (steps > 0 && !this.last) {
      await this.jump(window.to);
      this.t = this.loaded.window.step(window.to, 1) ?? this.loaded.window.to;
    } else if (steps < 0 && window.from > 0) {
      const before = this.t;
      await this.jump(Math.max(0, window.from - 1));
      this.t = this.loaded.window.step(before, steps) ?? this.loaded.window.from;
    } else this.t = steps > 0 ? window.to : window.from;
    this.changed();
  }

  /** Goes to an instant. */
  async jump(t: number): Promise<void> {
    const mine = ++this.jumps;
    if (!this.loaded.window.holds(t)) {
      const from = Math.max(0, t - LOOK_BACK_NS);
      this.next = null;
      this.ready = null;
      const loaded = await load(this.core, this.opened, from, ACCESSES);
      if (mine !== this.jumps) return;
      this.show(loaded);
    }
    this.t = Math.min(Math.max(t, this.loaded.window.from), this.loaded.window.to);
    this.changed();
  }

  private fetch(): void {
    if (this.next || this.last) return;
    const mine = this.jumps;
    const next = load(this.core, this.opened, this.loaded.window.to, ACCESSES);
    this.next = next;
    next.then(
      (loaded) => {
        if (mine === this.jumps) this.ready = loaded;
      },
      (error: unknown) => {
        if (mine !== this.jumps) return;
        this.playing = false;
        this.failed(error);
      },
    );
  }

  /** Switches to the next window, if it has been loaded. */
  private turn(): void {
    this.fetch();
    if (!this.ready) return;
    const { window } = this.ready;
    if (window.to <= this.loaded.window.to && window.watched.done) this.last = true;
    else this.show(this.ready);
    this.next = null;
    this.ready = null;
  }

  private show(loaded: Loaded): void {
    this.loaded = loaded;
    this.last = loaded.window.watched.done;
  }
}

async function load(core: Laboratory, opened: Opened, from: number, accesses: number): Promise<Loaded> {
  const watched = await core.watch(opened.run, from, accesses);
  const window = new Window(watched, opened.stations.length);
  const paths = await Promise.all(opened.stations.map(async (_, station) => {
    const at = instants(window, station);
    return new Path(at, await core.positions(opened.run, station, at));
  }));
  return { window, paths };
}
