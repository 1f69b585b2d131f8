// A clock over a run: plays, steps and jumps, and loads the windows around the present.

import type { Laboratory } from "../../core/laboratory.ts";
import type { RunDescription } from "../../core/types.ts";
import { sampleTimes, Path } from "./path.ts";
import { advance, DEFAULT_SPEED_INDEX, SPEEDS } from "./speed.ts";
import { Window } from "./window.ts";

/** Choices of the first window, and of all later ones. */
const FIRST_WINDOW_CHOICES = 200;
const WINDOW_CHOICES = 1000;
/** How much time before its instant a window after a jump shows, in ns. */
const LOOK_BACK_NS = 20e6;
/** By this factor a step back looks back further, where the window has too few choices before the present. */
const LOOK_BACK_FACTOR = 8;

/** A window, and the paths of the stations' mechanisms in it. */
export interface LoadedWindow {
  readonly window: Window;
  readonly paths: readonly Path[];
}

export class Player {
  t = 0;
  isPlaying = false;
  speedIndex = DEFAULT_SPEED_INDEX;
  /** Whether the window that is shown is the last of the run. */
  private isLast = false;
  /** The window that follows the one that is shown, while it is loaded and after that. */
  private nextWindow: Promise<LoadedWindow> | null = null;
  private readyWindow: LoadedWindow | null = null;
  private jumpCount = 0;
  /** Whether a jump loads its window. */
  private isJumping = false;

  private constructor(
    private readonly core: Laboratory,
    readonly description: RunDescription,
    /** Called when the instant or the window changes other than by playing. */
    private readonly onChange: () => void,
    private readonly onError: (error: unknown) => void,
    public loadedWindow: LoadedWindow,
  ) {
    this.show(loadedWindow);
  }

  /** Opens a run and loads it around an instant. */
  static async open(core: Laboratory, toml: string, t: number, onChange: () => void, onError: (error: unknown) => void): Promise<Player> {
    const description = await core.open(toml, "experiment");
    const loaded = await load(core, description, t - LOOK_BACK_NS, FIRST_WINDOW_CHOICES, t);
    const player = new Player(core, description, onChange, onError, loaded);
    player.t = Math.min(t, loaded.window.to_ns);
    return player;
  }

  get hasEnded(): boolean {
    return this.isLast && this.t >= this.loadedWindow.window.to_ns;
  }

  /** Stops playing, and drops the windows that are being loaded. */
  close(): void {
    this.jumpCount++;
    this.nextWindow = null;
    this.isPlaying = false;
  }

  /** Advances the clock by a frame, if it plays; returns whether it did. */
  frame(elapsed_ms: number): boolean {
    const { window } = this.loadedWindow;
    if (this.t > window.from_ns + (window.to_ns - window.from_ns) / 2) this.prefetch();
    if (!this.isPlaying) return false;
    const speed = SPEEDS[this.speedIndex]!;
    this.t = Math.min(window.to_ns, this.t + (speed === Infinity ? Infinity : advance(speed, elapsed_ms)));
    if (this.t >= window.to_ns) this.switchWindow();
    if (this.hasEnded) this.isPlaying = false;
    return true;
  }

  /** Goes so many choices on, or back; loads another window where that is needed. */
  async step(steps: number): Promise<void> {
    this.isPlaying = false;
    const target_ns = this.loadedWindow.window.step(this.t, steps);
    if (target_ns !== null) this.t = target_ns;
    else if (steps > 0) await this.stepBeyond(steps);
    else await this.stepBefore(steps);
    this.onChange();
  }

  /** Steps beyond the end of the window; to the end of the run where it has fewer choices. */
  private async stepBeyond(steps: number): Promise<void> {
    const { window } = this.loadedWindow;
    const remainingSteps = steps - window.choicesAfter(this.t);
    if (!this.isLast) {
      this.prefetch();
      const next = this.nextWindow;
      await next;
      if (next !== this.nextWindow) return;
      this.switchWindow();
    }
    this.t = this.loadedWindow.window.step(window.to_ns, remainingSteps) ?? this.loadedWindow.window.to_ns;
  }

  /** Steps before the beginning of the window; to the beginning of the run where it has fewer choices. */
  private async stepBefore(steps: number): Promise<void> {
    const { t, loadedWindow: { window: { from_ns, to_ns } } } = this;
    for (let lookBack_ns = Math.max(LOOK_BACK_NS, to_ns - from_ns); ; lookBack_ns *= LOOK_BACK_FACTOR) {
      if (this.loadedWindow.window.from_ns > 0 && !(await this.loadWindow(t - lookBack_ns, t))) return;
      const { window } = this.loadedWindow;
      const target_ns = window.step(t, steps);
      if (target_ns === null && window.from_ns > 0) continue;
      this.t = target_ns ?? 0;
      return;
    }
  }

  /** Goes to an instant. */
  async jump(t: number): Promise<void> {
    this.jumpCount++;
    this.isJumping = false;
    if (!this.loadedWindow.window.contains(t) && !(await this.loadWindow(t - LOOK_BACK_NS, t))) return;
    this.t = Math.min(Math.max(t, this.loadedWindow.window.from_ns), this.loadedWindow.window.to_ns);
    this.onChange();
  }

  /** Shows the window from one instant to beyond another; returns false if a later jump has replaced this one. */
  private async loadWindow(from_ns: number, until_ns: number): Promise<boolean> {
    const jumpNumber = ++this.jumpCount;
    this.isJumping = true;
    this.nextWindow = null;
    try {
      const loaded = await load(this.core, this.description, from_ns, WINDOW_CHOICES, until_ns);
      if (jumpNumber === this.jumpCount) this.show(loaded);
    } finally {
      if (jumpNumber === this.jumpCount) this.isJumping = false;
    }
    return jumpNumber === this.jumpCount;
  }

  /** Loads the next window. Not while a jump loads its own: the core has positions for the window that it returned last. */
  private prefetch(): void {
    if (this.nextWindow || this.isLast || this.isJumping) return;
    const { to_ns } = this.loadedWindow.window;
    const next = load(this.core, this.description, to_ns, WINDOW_CHOICES, to_ns + 1);
    this.nextWindow = next;
    next.then(
      (loaded) => {
        if (this.nextWindow === next) this.readyWindow = loaded;
      },
      (error: unknown) => {
        if (this.nextWindow !== next) return;
        this.isPlaying = false;
        this.onError(error);
      },
    );
  }

  /** Switches to the next window, if it has been loaded. */
  private switchWindow(): void {
    this.prefetch();
    if (!this.readyWindow) return;
    const { window } = this.readyWindow;
    if (window.to_ns > this.loadedWindow.window.to_ns) this.show(this.readyWindow);
    else this.isLast = true;
  }

  private show(loaded: LoadedWindow): void {
    this.loadedWindow = loaded;
    this.isLast = loaded.window.data.done;
    this.nextWindow = null;
    this.readyWindow = null;
  }
}

/** Loads the window from one instant to beyond another, and to the end of the run at most. */
async function load(core: Laboratory, description: RunDescription, from_ns: number, choiceCount: number, until_ns: number): Promise<LoadedWindow> {
  const data = await core.watch(description.run, Math.max(0, from_ns), choiceCount, Math.ceil(until_ns));
  const window = new Window(data, description.stations.length);
  const paths = await Promise.all(description.stations.map(async (_, station) => {
    const times_ns = sampleTimes(window, station);
    return new Path(times_ns, await core.positions(description.run, station, times_ns));
  }));
  return { window, paths };
}
