// The sliders of Design: which parameters of a sled they move, and over which range.

import type { Parameter } from "../../core/types.ts";
import { figure } from "../format.ts";

export interface Knob {
  readonly name: string;
  readonly label: string;
  /** The factor by which the ends of a logarithmic range differ from the preset's value; without it the range is linear. */
  readonly times?: number;
  readonly interval?: readonly [number, number];
  readonly whole?: boolean;
  /** Other parameters that get the same value. */
  readonly also?: readonly string[];
}

export const KNOBS: readonly Knob[] = [
  { name: "acceleration_x_m_s2", label: "acceleration of the actuators", times: 4, also: ["acceleration_y_m_s2"] },
  { name: "spring_factor", label: "spring, share of the force at the edge", interval: [0, 0.99] },
  { name: "bit_nm", label: "width of a bit", times: 2.5 },
  { name: "active_tips", label: "active tips at once", times: 5, whole: true },
  { name: "settle_constants", label: "settling, time constants", interval: [0, 4] },
  { name: "resonant_hz", label: "resonance that settling waits for", times: 3 },
  { name: "tip_rate_kbit_s", label: "rate of a tip", times: 4 },
  { name: "travel_x_um", label: "reach of the sled", times: 2, also: ["travel_y_um"] },
];

const STEPS = 200;

export interface Scale {
  /** The value of the parameter at a place of the slider, 0 to `steps`. */
  value(place: number): number;
  place(value: number): number;
  readonly steps: number;
}

/** The range of a slider, around the value of the preset from which the design began. */
export function scale(knob: Knob, base: number, parameter: Parameter | undefined): Scale {
  const [least, most] = parameter?.range ?? [-Infinity, Infinity];
  if (knob.interval) {
    const [low, high] = [Math.max(least, knob.interval[0]), Math.min(most, knob.interval[1])];
    return { steps: STEPS, value: (place) => tidy(low + ((high - low) * place) / STEPS), place: (value) => Math.round(((value - low) / (high - low)) * STEPS) };
  }
  const times = knob.times ?? 2;
  const clamp = (value: number) => Math.min(most, Math.max(least, knob.whole ? Math.round(value) : tidy(value)));
  return {
    steps: STEPS,
    value: (place) => (place === STEPS / 2 ? base : clamp(base * times ** ((2 * place) / STEPS - 1))),
    place: (value) => Math.round(((Math.log(value / base) / Math.log(times) + 1) / 2) * STEPS),
  };
}

/** A value rounded to three digits. */
export function tidy(value: number): number {
  return Number(value.toPrecision(3));
}

/** The change of a figure from that of the preset from which the design began, in words. */
export function against(value: number, base: number): string {
  if (!(base > 0) || Math.abs(value / base - 1) < 5e-4) return "as before";
  const ratio = value / base;
  if (ratio >= 2 || ratio <= 0.5) return `× ${figure(ratio, 2)}`;
  return `${ratio > 1 ? "+" : "−"}${figure(Math.abs(ratio - 1) * 100, 2)} %`;
}
