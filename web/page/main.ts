// The entry of the page: starts the app.

import { App } from "./app.ts";
import { el, fill } from "./dom.ts";
import { errorText } from "./engine.ts";

const page = document.getElementById("page")!;

App.start(page).catch((error: unknown) => {
  fill(page, el("p", { class: "loading", role: "alert" }, [`The laboratory could not start: ${errorText(error)}`]));
});
