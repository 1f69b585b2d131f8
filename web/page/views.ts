// The views other than Watch, and the tour.

import type { App } from "./app.ts";
import { Design } from "./design/view.ts";
import { Race } from "./race/view.ts";
import { Tour } from "./tour/tour.ts";
import { Yours } from "./yours/view.ts";

export type View = "watch" | "race" | "design" | "yours";

export interface Views {
  readonly race: Race;
  readonly design: Design;
  readonly yours: Yours;
  readonly tour: Tour;
}

export function createViews(app: App): Views {
  return { race: new Race(app), design: new Design(app), yours: new Yours(app), tour: new Tour(app) };
}
