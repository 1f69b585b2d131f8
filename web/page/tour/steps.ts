// The tour: five steps from a moving sled to why SPTF starves the edge.

import type { App } from "../app.ts";
import { FIRST } from "../setup.ts";

export interface Step {
  readonly title: string;
  readonly text: readonly string[];
  /** The element that the step points at: its value of `data-tour`. */
  readonly at: string;
  /** Called when the tour reaches the step. */
  go(app: App): void;
}

const BUSY = FIRST.withTable("scheduler", { kind: "sptf" });

export const STEPS: readonly Step[] = [
  {
    title: "A sled under its tips",
    text: [
      "Thousands of probe tips stand still; the medium moves below them, left and right, up and down. This is the region of one tip. All tips see the same, so one is enough.",
      "Each shape is a request that waits. The cross is where the tip is now; its line is the way it came.",
    ],
    at: "stage",
    go: (app) => {
      if (app.experiment.toml !== BUSY.toml) app.change(BUSY);
      app.show("watch");
      app.watching.whenSimulated(() => app.watching.goOn(0));
    },
  },
  {
    title: "What is near?",
    text: [
      "The colours are the time to every place from here: dark is soon, light is late. Moving in x and in y at the same time, the sled is there when the slower of the two is done, and after a move in x it must settle.",
      "So near is not a circle. Every block of the same cylinder saves settling: that is the dark line through the cross.",
    ],
    at: "stage",
    go: (app) => app.watching.pauseAt(0.5),
  },
  {
    title: "The greedy choice",
    text: [
      "SPTF, shortest positioning time first, always takes what it reaches soonest. The table has the times of the best candidates; the bars below are the life of the one it took.",
      "Press “Choice ▸” a few times and watch the cross: it seldom goes far. Look at how long the oldest of the others has waited.",
    ],
    at: "choice",
    go: (app) => void app.watching.step(1),
  },
  {
    title: "The one that waited longest",
    text: [
      "This is the slowest request of the whole run, at the moment it was served at last. See where it lies: near an edge. From the middle the edge is far, and from an edge so is everything; the sled rarely comes by.",
      "While it waited, others kept arriving nearer to the sled, and each of them went first.",
    ],
    at: "life",
    go: (app) => app.watching.whenSimulated(() => void app.watching.slowest()),
  },
  {
    title: "Fast, but not fair",
    text: [
      "The same arrivals under SPTF and under aged SPTF, which gives credit to those who wait. The last chart is the time in the queue by place: under SPTF the edges wait longest. Aged SPTF is nearly as fast on average, and its longest wait is much shorter.",
      "FCFS would treat all places alike, but it cannot keep up with this load: add it as a runner and look. Then move the load and race again.",
    ],
    at: "places",
    go: (app) => app.race(["sptf", "asptf"]),
  },
];
