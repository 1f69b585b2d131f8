// The sliders of Design: which parameters of a sled they move, and over which range.

import type { Parameter } from "../../core/types.ts";
import { formatNumber } from "../format.ts";

export interface Knob {
  readonly name: string;
  readonly label: string;
  /** The factor by which the ends of a logarithmic range differ from the preset's value; without it the range is linear. */
  readonly factor?: number;
  readonly interval?: readonly [number, number];
  readonly isInteger?: boolean;
  /** Other parameters that get the same value. */
  readonly linkedParameters?: readonly string[];
}

export const KNOBS: readonly Knob[] = [
  { name: "acceleration_x_m_s2", label: "acceleration of the actuators", factor: 4, linkedParameters: ["acceleration_y_m_s2"] },
  { name: "spring_factor", label: "spring, share of the force at the edge", interval: [0, 0.99] },
  { name: "bit_nm", label: "width of a bit", factor: 2.5 },
  { name: "active_tips", label: "active tips at once", factor: 5, isInteger: true },
  { name: "settle_constants", label: "settling, time constants", interval: [0, 4] },
  { name: "resonant_hz", label: "resonance that settling waits for", factor: 3 },
  { name: "tip_rate_kbit_s", label: "rate of a tip", factor: 4 },
  { name: "travel_x_um", label: "reach of the sled", factor: 2, linkedParameters: ["travel_y_um"] },
];

const SLIDER_STEPS = 200;

export interface Scale {
  /** The value of the parameter at a place of the slider, 0 to `steps`. */
  value(place: number): number;
  place(value: number): number;
  readonly steps: number;
}

/** The range of a slider, around the value of the preset from which the design began. */
export function scale(knob: Knob, baseValue: number, parameter: Parameter | undefined): Scale {
  const [minimum, maximum] = parameter?.range ?? [-Infinity, Infinity];
  if (knob.interval) {
    const [low, high] = [Math.max(minimum, knob.interval[0]), Math.min(maximum, knob.interval[1])];
    return { steps: SLIDER_STEPS, value: (place) => roundToThreeDigits(low + ((high - low) * place) / SLIDER_STEPS), place: (value) => Math.round(((value - low) / (high - low)) * SLIDER_STEPS) };
  }
  const factor = knob.factor ?? 2;
  const clamp = (value: number) => Math.min(maximum, Math.max(minimum, knob.isInteger ? Math.round(value) : roundToThreeDigits(value)));
  return {
    steps: SLIDER_STEPS,
    value: (place) => (place === SLIDER_STEPS / 2 ? baseValue : clamp(baseValue * factor ** ((2 * place) / SLIDER_STEPS - 1))),
    place: (value) => Math.round(((Math.log(value / baseValue) / Math.log(factor) + 1) / 2) * SLIDER_STEPS),
  };
}

/** A value rounded to three digits. */
export function roundToThreeDigits(value: number): number {
  return Number(value.toPrecision(3));
}

/** Smaller changes of a figure, as a share, are not shown: the mean seek is that of a sample of seeks. */
const MIN_CHANGE = 0.002;

/** The change of a figure from that of the preset from which the design began, in words. */
export function formatChange(value: number, baseValue: number): string {
  if (!(baseValue > 0) || Math.abs(value / baseValue - 1) < MIN_CHANGE) return "as before";
  const ratio = value / baseValue;
  if (ratio >= 2 || ratio <= 0.5) return `× ${formatNumber(ratio, 2)}`;
  return `${ratio > 1 ? "+" : "−"}${formatNumber(Math.abs(ratio - 1) * 100, 2)} %`;
}
