// The entry of the page: shows the figure that the address names.

import { el, fill } from "../page/dom.ts";
import { Figure } from "./app.ts";
import type { Description } from "./description.ts";

const descriptions = JSON.parse(document.getElementById("given")!.textContent) as readonly Description[];
const header = el("header");
let shown: Figure | undefined;

/** Shows the figure in the address, or the first. */
function open(): void {
  const [name, ...words] = location.hash.slice(1).split("&");
  const named = descriptions.find((each) => each.name === name);
  const description = named ?? descriptions[0]!;
  const links = descriptions.map((each) => el("a", { href: `#${each.name}`, "aria-current": each === description && "page" }, [each.label]));
  fill(header, el("span", { class: "brand" }, ["sledlab"]), el("nav", { "aria-label": "Figures" }, links));
  document.title = `${description.title} – sledlab`;
  shown?.end();
  // Settings of an unknown figure mean nothing for another one.
  shown = new Figure(description, (named ? words : [location.hash.slice(1)]).filter(Boolean));
  fill(document.getElementById("page")!, shown.element);
}

document.body.prepend(header);
addEventListener("hashchange", open);
open();
