// The entry of the page: shows the figure that the address names.

import { el, fill } from "../page/dom.ts";
import { Figure } from "./app.ts";
import type { Description } from "./description.ts";

const descriptions = JSON.parse(document.getElementById("figures")!.textContent!) as readonly Description[];
const header = document.querySelector("header")!;
let shown: Figure | undefined;

/** Shows the figure in the address, or the first. */
function open(): void {
  const [name, ...words] = location.hash.slice(1).split("&");
  const description = descriptions.find((each) => each.name === name) ?? descriptions[0]!;
  shown?.end();
  const links = descriptions.map((each) => el("a", { href: `#${each.name}`, "aria-current": each === description && "page" }, [`${each.citation}, figure ${each.name.split("-").at(-1)!}`]));
  fill(header, el("span", { class: "brand" }, ["sledlab"]), el("nav", { "aria-label": "Figures" }, links));
  shown = new Figure(description, words.filter(Boolean));
  document.title = `${description.title} – sledlab`;
  document.getElementById("page")!.replaceChildren(shown.element);
}

addEventListener("hashchange", open);
open();
