// The help: what the page is, and the keys it understands.

import { button, el } from "./dom.ts";
import type { Keys } from "./keys.ts";

export function help(keys: Keys, version: string): HTMLDialogElement {
  const dialog = el("dialog", { "aria-labelledby": "help-title" });
  const rows = Object.entries(keys).filter(([, { meaning }]) => meaning !== "").flatMap(([key, { meaning, label }]) => [
    el("dt", {}, [el("kbd", {}, [label ?? key.toUpperCase()])]), el("dd", {}, [meaning]),
  ]);
  dialog.append(
    el("h2", { id: "help-title" }, ["sledlab in a page"]),
    el("p", {}, ["MEMS storage moves its medium, a sled of a few square millimeters on springs, under thousands of fixed probe tips. Here the simulator itself runs in your browser: nothing is recorded, nothing leaves this page."]),
    el("dl", {}, rows),
    el("p", { class: "quiet" }, [`Version ${version}. Times, places and choices are the simulator's own; colors tell apart without red and green.`]),
    el("p", { class: "row" }, [button("Close", () => dialog.close(), { class: "main" })]),
  );
  return dialog;
}
