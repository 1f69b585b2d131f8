// The controls of the clock: play, step, speed and jumps.

import { button, el, set } from "../dom.ts";
import { clock } from "../format.ts";
import { SPEEDS, spoken } from "./speed.ts";

export interface Controls {
  play(): void;
  step(steps: number): void;
  speed(index: number): void;
  slowest(): void;
  startup(): void;
  request(id: number): void;
  start(): void;
  end(): void;
}

export class Transport {
  readonly element: HTMLElement;
  private readonly time = el("output", { class: "clock", "aria-label": "simulated time" }, [clock(0)]);
  private readonly playing: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly pace = el("output", {}, []);
  private readonly jumps: readonly HTMLButtonElement[];
  readonly number: HTMLInputElement;

  constructor(controls: Controls) {
    this.playing = button("Play", () => controls.play(), { key: "Space", class: "main", "data-tour": "play" });
    this.slider = el("input", { type: "range", min: 0, max: SPEEDS.length - 1, step: 1, title: "keys + and −" }, [],
      { input: () => controls.speed(Number(this.slider.value)) });
    this.number = el("input", { type: "number", min: 0, step: 1, placeholder: "request", "aria-label": "number of a request to go to", title: "key J" });
    const slowest = button("Slowest", () => controls.slowest(), { key: "S", disabled: true, "data-tour": "slowest" });
    const startup = button("Next start-up", () => controls.startup(), { key: "N", disabled: true });
    this.jumps = [slowest, startup];
    const go = el("form", { class: "row go" }, [this.number, el("button", { type: "submit" }, ["Go"])], {
      submit: (event) => {
        event.preventDefault();
        if (this.number.value !== "") controls.request(Number(this.number.value));
      },
    });
    this.element = el("section", { class: "card wide transport", "aria-label": "Time" }, [
      this.playing,
      button("◂ Choice", () => controls.step(-1), { key: "←", "aria-label": "previous choice" }),
      button("Choice ▸", () => controls.step(1), { key: "→", "aria-label": "next choice", "data-tour": "step" }),
      this.time,
      el("label", { class: "field speed" }, [el("span", {}, ["speed"]), this.slider, this.pace]),
      el("span", { class: "grow" }), slowest, startup, go,
    ]);
  }

  show(t: number, playing: boolean, speed: number): void {
    this.time.textContent = clock(t);
    const label = playing ? "Pause" : "Play";
    if (this.playing.textContent !== label) this.playing.textContent = label;
    if (Number(this.slider.value) !== speed || this.pace.textContent === "") {
      this.slider.value = String(speed);
      this.slider.setAttribute("aria-valuetext", spoken(SPEEDS[speed]!));
      this.pace.textContent = spoken(SPEEDS[speed]!);
    }
  }

  /** Enables the jumps that need the whole run; that to a start-up only if the run has `startups`. */
  enable(startups: boolean): void {
    set(this.jumps[0]!, "disabled", false);
    set(this.jumps[1]!, "disabled", !startups);
  }
}
