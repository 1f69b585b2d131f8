// A clock over a run: plays, steps and jumps, and loads the windows around the present.

import type { Laboratory } from "../../core/laboratory.ts";
import type { RunDescription } from "../../core/types.ts";
import { sampleTimes, Path } from "./path.ts";
import { advance, DEFAULT_SPEED, SPEEDS } from "./speed.ts";
import { Window } from "./window.ts";

/** Accesses of the first window, and of all later ones. */
const FIRST_WINDOW_ACCESSES = 200;
const WINDOW_ACCESSES = 1000;
/** How much time before its instant a window after a jump shows, in ns. */
const LOOK_BACK_NS = 20e6;

/** A window, and the paths of the stations' mechanisms in it. */
export interface LoadedWindow {
  readonly window: Window;
  readonly paths: readonly Path[];
}

export class Player {
  t = 0;
  playing = false;
  speed = DEFAULT_SPEED;
  /** Whether the window that is shown is the last of the run. */
  private isLast = false;
  private nextWindow: Promise<LoadedWindow> | null = null;
  private readyWindow: LoadedWindow | null = null;
  private jumpCount = 0;

  private constructor(
    private readonly core: Laboratory,
    readonly description: RunDescription,
    /** Called when the instant or the window changes other than by playing. */
    private readonly onChange: () => void,
    private readonly onError: (error: unknown) => void,
    public loaded: LoadedWindow,
  ) {
    this.show(loaded);
  }

  /** Opens a run and loads it around an instant. */
  static async open(core: Laboratory, toml: string, t: number, onChange: () => void, onError: (error: unknown) => void): Promise<Player> {
    const description = await core.open(toml, "experiment");
    const player = new Player(core, description, onChange, onError, await load(core, description, Math.max(0, t - LOOK_BACK_NS), FIRST_WINDOW_ACCESSES));
    player.t = Math.min(t, player.loaded.window.to);
    return player;
  }

  get hasEnded(): boolean {
    return this.isLast && this.t >= this.loaded.window.to;
  }

  /** Stops playing, and drops the windows that are being loaded. */
  close(): void {
    this.jumpCount++;
    this.playing = false;
  }

  /** Advances the clock by a frame, if it plays; returns whether it did. */
  frame(elapsed_ms: number): boolean {
    const { window } = this.loaded;
    if (this.t > window.from + (window.to - window.from) / 2) this.prefetch();
    if (!this.playing) return false;
    const speed = SPEEDS[this.speed]!;
    this.t = Math.min(window.to, this.t + (speed === Infinity ? Infinity : advance(speed, elapsed_ms)));
    if (this.t >= window.to) this.switchWindow();
    if (this.hasEnded) this.playing = false;
    return true;
  }

  /** Goes so many choices on, or back; loads another window where that is needed. */
  async step(steps: number): Promise<void> {
    this.playing = false;
    const { window } = this.loaded;
    const at = window.step(this.t, steps);
    if (at !== null) this.t = at;
    else if (steps > 0 && !this.isLast) {
      await this.jump(window.to);
      this.t = this.loaded.window.step(window.to, 1) ?? this.loaded.window.to;
    } else if (steps < 0 && window.from > 0) {
      const before = this.t;
      await this.jump(Math.max(0, window.from - 1));
      this.t = this.loaded.window.step(before, steps) ?? this.loaded.window.from;
    } else this.t = steps > 0 ? window.to : window.from;
    this.onChange();
  }

  /** Goes to an instant. */
  async jump(t: number): Promise<void> {
    const mine = ++this.jumpCount;
    if (!this.loaded.window.contains(t)) {
      const from = Math.max(0, t - LOOK_BACK_NS);
      this.nextWindow = null;
      this.readyWindow = null;
      const loaded = await load(this.core, this.description, from, WINDOW_ACCESSES);
      if (mine !== this.jumpCount) return;
      this.show(loaded);
    }
    this.t = Math.min(Math.max(t, this.loaded.window.from), this.loaded.window.to);
    this.onChange();
  }

  private prefetch(): void {
    if (this.nextWindow || this.isLast) return;
    const mine = this.jumpCount;
    const next = load(this.core, this.description, this.loaded.window.to, WINDOW_ACCESSES);
    this.nextWindow = next;
    next.then(
      (loaded) => {
        if (mine === this.jumpCount) this.readyWindow = loaded;
      },
      (error: unknown) => {
        if (mine !== this.jumpCount) return;
        this.playing = false;
        this.onError(error);
      },
    );
  }

  /** Switches to the next window, if it has been loaded. */
  private switchWindow(): void {
    this.prefetch();
    if (!this.readyWindow) return;
    const { window } = this.readyWindow;
    if (window.to <= this.loaded.window.to && window.data.done) this.isLast = true;
    else this.show(this.readyWindow);
    this.nextWindow = null;
    this.readyWindow = null;
  }

  private show(loaded: LoadedWindow): void {
    this.loaded = loaded;
    this.isLast = loaded.window.data.done;
  }
}

async function load(core: Laboratory, description: RunDescription, from: number, accesses: number): Promise<LoadedWindow> {
  const data = await core.watch(description.run, from, accesses);
  const window = new Window(data, description.stations.length);
  const paths = await Promise.all(description.stations.map(async (_, station) => {
    const at = sampleTimes(window, station);
    return new Path(at, await core.positions(description.run, station, at));
  }));
  return { window, paths };
}
