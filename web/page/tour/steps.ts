// The tour: five steps from a moving sled to why SPTF starves the edge.

import type { App } from "../app.ts";
import { DEFAULT_EXPERIMENT } from "../setup.ts";

export interface Step {
  readonly title: string;
  readonly text: readonly string[];
  /** The element that the step points at: its value of `data-tour`. */
  readonly anchor: string;
  /** Called when the tour reaches the step. */
  enter(app: App): void;
}

const SPTF_EXPERIMENT = DEFAULT_EXPERIMENT.withTable("scheduler", { kind: "sptf" });

export const STEPS: readonly Step[] = [
  {
    title: "A sled under its tips",
    text: [
      "Thousands of probe tips stand still; the medium moves below them, left and right, up and down. This is the region of one tip. All tips see the same, so one is enough.",
      "Each shape is a request that waits. The cross is where the tip is now; its line is the way it came.",
    ],
    anchor: "stage",
    enter: (app) => {
      if (app.experiment.toml !== SPTF_EXPERIMENT.toml) app.change(SPTF_EXPERIMENT);
      app.show("watch");
      app.watchView.whenSimulated(() => app.watchView.playFrom(0));
    },
  },
  {
    title: "What is near?",
    text: [
      "The colors are the time to every place from here: light is soon, dark is late. Moving in x and in y at the same time, the sled is there when the slower of the two is done, and after a move in x it must settle.",
      "So near is not a circle. Every block of the same cylinder saves settling: that is the light line through the cross.",
    ],
    anchor: "stage",
    enter: (app) => app.watchView.pauseAt(0.5),
  },
  {
    title: "The greedy choice",
    text: [
      "SPTF, shortest positioning time first, always takes what it reaches soonest. The table has the times of the best candidates; the bars below are the life of the one it took.",
      "Press “Choice ▸” a few times and watch the cross: it seldom goes far. Look at how long the oldest of the others has waited.",
    ],
    anchor: "choice",
    enter: (app) => void app.watchView.step(1),
  },
  {
    title: "The one that waited longest",
    text: [
      "This is the slowest request of the whole run, at the moment it was served at last. See where it lies: near an edge. From the middle the edge is far, and from an edge so is everything; the sled rarely comes by.",
      "While it waited, others kept arriving nearer to the sled, and each of them went first.",
    ],
    anchor: "life",
    enter: (app) => app.watchView.whenSimulated(() => void app.watchView.jumpToSlowest()),
  },
  {
    title: "Fast, but not fair",
    text: [
      "The same arrivals under SPTF and under aged SPTF, which gives credit to those who wait. The last chart is the time in the queue by place: under SPTF the edges wait longest. Aged SPTF is nearly as fast on average, and its longest wait is much shorter.",
      "FCFS would treat all places alike, but it cannot keep up with this load: add it as a runner and look. Then move the load and race again.",
    ],
    anchor: "places",
    enter: (app) => app.race(["sptf", "asptf"]),
  },
];
