// The warning about a run whose queue kept growing, as on the command line.

import { el } from "./dom.ts";

/** The warning, hidden unless the run `isSaturated`. */
export function overloadWarning(isSaturated: boolean): HTMLElement {
  return el("p", { class: "overload", hidden: !isSaturated }, [el("strong", {}, ["Overloaded: "]), "the queue kept growing, so response times depend on the length of the run."]);
}
