// The view Design: sliders of the physics of a sled, and its figures and seek-time map, which follow them.

import type { App } from "../app.ts";
import type { Laboratory } from "../../core/laboratory.ts";
import type { DeviceFacts, SeekMap } from "../../core/types.ts";
import { addSaveMenu } from "../../charts/menu.ts";
import { Sheet } from "../canvas.ts";
import { button, el, fill, select } from "../dom.ts";
import { download } from "../download.ts";
import { takeWorker } from "../engine.ts";
import { Experiment, type Values } from "../experiment.ts";
import { formatCapacity, formatNumber, formatUnit } from "../format.ts";
import { maxPositioning_ms, drawMap } from "../watch/map.ts";
import { drawBackground, drawForeground, stageFrame } from "../watch/stage.ts";
import { formatChange, KNOBS, scale, type Knob } from "./sliders.ts";

const BLOCK_BYTES = 512;
const DEFAULT_PRESET = "mems-g2";

export class Design {
  readonly element = el("div", { class: "design" });
  private core: Laboratory | null = null;
  private base: DeviceFacts | null = null;
  private preset = DEFAULT_PRESET;
  private facts: DeviceFacts | null = null;
  private map: SeekMap | null = null;
  private max_ms = 1;
  private overrides: Record<string, number> = {};
  private isBusy = false;
  private isOutdated = false;
  private readonly canvas = document.createElement("canvas");
  private readonly sliders = el("div", { class: "sliders" });
  private readonly figures = el("dl", { class: "figures card" });
  private readonly problem = el("p", { class: "quiet", role: "status" });
  private readonly raceButton = button("Race it", () => this.race());
  private readonly sheet: Sheet;
  private readonly mapCard: HTMLElement;

  constructor(private readonly app: App) {
    this.sheet = new Sheet("Seek-time map of the design, from the middle", (width) => Math.max(230, Math.min(470, width * 0.6)), () => this.draw());
    this.figures.setAttribute("aria-live", "polite");
    this.mapCard = el("section", { class: "card stage", "aria-label": "Seek-time map" }, [this.sheet.canvas]);
    addSaveMenu(this.mapCard, "Seek-time map", [this.sheet]);
  }

  async show(): Promise<void> {
    this.core ??= await takeWorker();
    if (!this.base) await this.begin(DEFAULT_PRESET);
  }

  /** Begins a design from a preset. */
  private async begin(preset: string): Promise<void> {
    this.preset = preset;
    this.overrides = {};
    this.base = await this.core!.device(this.toml);
    this.max_ms = 0;
    this.compose();
    await this.update();
  }

  private get values(): Values {
    return { preset: this.preset, ...this.overrides };
  }

  private get toml(): string {
    return Experiment.parse("").withTable("device", this.values).toml;
  }

  private compose(): void {
    const presets = this.app.catalog.devices.map(({ name }) => name).filter((name) => name.startsWith("mems") || name === "millipede");
    fill(this.sliders, ...KNOBS.map((knob) => this.slider(knob)));
    fill(this.element,
      el("section", { class: "card", "aria-label": "Physics" }, [
        el("div", { class: "row" }, [
          select("begin from", presets.map((name) => [name, name] as const), this.preset, (name) => void this.app.attempt(() => this.begin(name))),
          button("Reset", () => void this.app.attempt(() => this.begin(this.preset))),
        ]), this.sliders, this.problem,
        el("div", { class: "row" }, [
          button("Watch it", () => this.watch(), { class: "main" }), this.raceButton,
          button("Save as device.toml", () => this.facts && download("device.toml", this.facts.toml)),
        ]),
      ]),
      el("div", {}, [this.figures, this.mapCard]));
  }

  private slider(knob: Knob): HTMLElement {
    const parameter = this.app.catalog.device_kinds.find(({ name }) => name === "mems")?.parameters?.find(({ name }) => name === knob.name);
    const baseValue = Number(this.base!.parameters[knob.name]);
    const sliderScale = scale(knob, baseValue, parameter);
    const output = el("output");
    const id = `knob-${knob.name}`;
    const showValue = (value: number) => {
      const text = `${formatNumber(value)} ${formatUnit(parameter?.unit ?? "")}`.trim();
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    };
    const input = el("input", { type: "range", id, min: 0, max: sliderScale.steps, step: 1, value: sliderScale.place(baseValue) }, [], {
      input: () => {
        const value = sliderScale.value(Number(input.value));
        showValue(value);
        for (const name of [knob.name, ...(knob.linkedParameters ?? [])]) this.overrides[name] = value;
        void this.app.attempt(() => this.update());
      },
    });
    showValue(baseValue);
    return el("div", { class: "slider" }, [el("label", { for: id, title: parameter?.meaning }, [knob.label]), output, input]);
  }

  /** Asks the core for figures and map of the design; of the changes made while it computes, only the last is computed next. */
  private async update(): Promise<void> {
    this.isOutdated = true;
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.isOutdated) {
        this.isOutdated = false;
        const toml = this.toml;
        try {
          this.facts = await this.core!.device(toml);
          this.map = await this.core!.seekMap(toml);
          fill(this.problem);
        } catch (error) {
          fill(this.problem, error instanceof Error ? error.message : String(error));
          continue;
        }
        this.raceButton.disabled = Object.keys(this.overrides).length === 0;
        this.showFigures();
        this.draw();
      }
    } finally {
      this.isBusy = false;
    }
  }

  private showFigures(): void {
    const [current, base] = [this.facts!, this.base!];
    const addFigure = (name: string, value: number, baseValue: number, text: string) =>
      el("div", {}, [el("dt", {}, [name]), el("dd", {}, [text, el("small", {}, [formatChange(value, baseValue)])])]);
    fill(this.figures,
      addFigure("mean seek", current.mean_seek_ms ?? 0, base.mean_seek_ms ?? 0, `${formatNumber(current.mean_seek_ms ?? 0)} ms`),
      addFigure("longest seek", current.longest_seek_ms ?? 0, base.longest_seek_ms ?? 0, `${formatNumber(current.longest_seek_ms ?? 0)} ms`),
      addFigure("sequential", current.bandwidth_mb_s, base.bandwidth_mb_s, `${formatNumber(current.bandwidth_mb_s)} MB/s`),
      addFigure("capacity", current.capacity_blocks, base.capacity_blocks, formatCapacity(current.capacity_blocks * BLOCK_BYTES)),
      addFigure("cylinders × rows", current.columns * current.rows, base.columns * base.rows, `${current.columns} × ${current.rows}`));
  }

  draw(): void {
    const pen = this.sheet.begin();
    if (!pen || !this.map || !this.facts) return;
    // The color scale stays while sliders move, so that colors can be compared; its end only grows.
    this.max_ms = Math.max(this.max_ms, maxPositioning_ms(this.map));
    const middle = { column: (this.facts.columns - 1) / 2, row: (this.facts.rows - 1) / 2 };
    const frame = stageFrame(this.facts, this.sheet.width, this.sheet.height);
    drawBackground(pen, frame, { extent: this.facts, map: drawMap(this.map, this.max_ms, this.canvas), max_ms: this.max_ms, waiting: [] });
    drawForeground(pen, frame, { chosen: null, runnersUp: [], sled: middle, trail: [] });
  }

  private watch(): void {
    this.app.change(this.app.experiment.withTable("device", this.values));
    this.app.show("watch");
  }

  /** Races the design against the preset from which it began. */
  private race(): void {
    this.app.raceView.raceDesigns({ [this.preset]: { preset: this.preset }, "your design": this.values });
  }
}
