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

export const STEPS: readonly Step[] = [
  {
    title: "A sled under its tips",
    text: [
      "Thousands of probe tips are fixed. The media sled moves below them in x and y. The stage shows the region of one tip; the regions of all tips are the same.",
      "Each mark is a queued request. The cross is the position of the tip, and the line is its path.",
    ],
    anchor: "stage",
    enter: (app) => {
      if (app.experiment.toml !== DEFAULT_EXPERIMENT.toml) app.change(DEFAULT_EXPERIMENT);
      app.show("watch");
      app.watchView.whenSimulated(() => app.watchView.playFrom(0));
    },
  },
  {
    title: "Positioning times",
    text: [
      "Colors show the positioning time to every place from the current position: light is short, dark is long. The sled moves in x and y at the same time, so the slower of the two movements decides. After a movement in x it also settles.",
      "Blocks of the current cylinder need no settling: they are the light line through the cross.",
    ],
    anchor: "stage",
    enter: (app) => void app.watchView.jump(0.5e9).then(() => app.watchView.step(1)),
  },
  {
    title: "The greedy choice",
    text: [
      "SPTF (shortest positioning time first) always selects the request with the shortest positioning time. The table lists the best candidates. The bars below show the times of the selected request.",
      "Press “Choice ▸” a few times: the cross rarely moves far. The line below the table shows how long the oldest other request has waited.",
    ],
    anchor: "choice",
    enter: (app) => void app.watchView.step(1),
  },
  {
    title: "The slowest request",
    text: [
      "This is the slowest request of the run, at the start of its service. It is near an edge. Edges are far from most positions of the sled, so SPTF rarely selects a request there.",
      "While this request waited, later requests arrived nearer to the sled and were served first.",
    ],
    anchor: "life",
    enter: (app) => app.watchView.whenSimulated(() => void app.watchView.jumpToSlowest()),
  },
  {
    title: "Fast, but not fair",
    text: [
      "This race runs the same arrivals under SPTF and ASPTF (aged SPTF), which prefers requests that have waited long. The last chart shows the time in the queue by place: under SPTF, requests at the edges wait longest. ASPTF is nearly as fast on average, and its slowest request is much faster.",
      "FCFS treats all places alike but cannot sustain this load. Add it as a runner to see this, then change the load.",
    ],
    anchor: "places",
    enter: (app) => app.raceView.raceSchedulers(["sptf", "asptf"]),
  },
];
