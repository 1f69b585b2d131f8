// The controls of the clock: play, step, speed and jumps.

import { button, el, setAttribute } from "../dom.ts";
import { formatTime } from "../format.ts";
import { SPEEDS, formatSpeed } from "./speed.ts";

export interface Controls {
  togglePlaying(): void;
  step(steps: number): void;
  setSpeed(index: number): void;
  jumpToSlowest(): void;
  jumpToStartup(): void;
  jumpToRequest(id: number): void;
  start(): void;
  end(): void;
}

export class Transport {
  readonly element: HTMLElement;
  private readonly clock = el("output", { class: "clock", "aria-label": "simulated time" }, [formatTime(0)]);
  private readonly playButton: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly speedLabel = el("output", {}, []);
  private readonly jumpButtons: readonly HTMLButtonElement[];
  readonly requestInput: HTMLInputElement;

  constructor(controls: Controls) {
    this.playButton = button("Play", () => controls.togglePlaying(), { key: "Space", class: "main", "data-tour": "play" });
    this.slider = el("input", { type: "range", min: 0, max: SPEEDS.length - 1, step: 1, title: "keys + and −" }, [],
      { input: () => controls.setSpeed(Number(this.slider.value)) });
    this.requestInput = el("input", { type: "number", min: 0, step: 1, placeholder: "request", "aria-label": "number of a request to go to", title: "key J" });
    const slowestButton = button("Slowest", () => controls.jumpToSlowest(), { key: "S", disabled: true, "data-tour": "slowest" });
    const startupButton = button("Next start-up", () => controls.jumpToStartup(), { key: "N", disabled: true });
    this.jumpButtons = [slowestButton, startupButton];
    const goForm = el("form", { class: "row go" }, [this.requestInput, el("button", { type: "submit" }, ["Go"])], {
      submit: (event) => {
        event.preventDefault();
        if (this.requestInput.value !== "") controls.jumpToRequest(Number(this.requestInput.value));
      },
    });
    this.element = el("section", { class: "card wide transport", "aria-label": "Time" }, [
      this.playButton,
      button("◂ Choice", () => controls.step(-1), { key: "←", "aria-label": "previous choice" }),
      button("Choice ▸", () => controls.step(1), { key: "→", "aria-label": "next choice", "data-tour": "step" }),
      this.clock,
      el("label", { class: "field speed" }, [el("span", {}, ["speed"]), this.slider, this.speedLabel]),
      el("span", { class: "grow" }), slowestButton, startupButton, goForm,
    ]);
  }

  show(t: number, isPlaying: boolean, speedIndex: number): void {
    this.clock.textContent = formatTime(t);
    const label = isPlaying ? "Pause" : "Play";
    if (this.playButton.textContent !== label) this.playButton.textContent = label;
    if (Number(this.slider.value) !== speedIndex || this.speedLabel.textContent === "") {
      this.slider.value = String(speedIndex);
      this.slider.setAttribute("aria-valuetext", formatSpeed(SPEEDS[speedIndex]!));
      this.speedLabel.textContent = formatSpeed(SPEEDS[speedIndex]!);
    }
  }

  /** Enables the jumps that need the whole run; that to a start-up only if the run has one. */
  enableJumps(hasStartups: boolean): void {
    setAttribute(this.jumpButtons[0]!, "disabled", false);
    setAttribute(this.jumpButtons[1]!, "disabled", !hasStartups);
  }
}
