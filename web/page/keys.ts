// Keys of the page. They do nothing while a reader types into a field, and leave the browser's own keys alone.

export interface Keys {
  readonly [key: string]: { readonly meaning: string; readonly label?: string; act(event: KeyboardEvent): void };
}

/** Elements in which letters and arrows have a meaning of their own. */
const TEXT_INPUTS = new Set(["INPUT", "SELECT", "TEXTAREA"]);

export function listen(keys: () => Keys): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    if (TEXT_INPUTS.has(target.tagName)) return;
    // Space and Enter press the button that has the focus.
    if (target.tagName === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
    if (target.getAttribute("role") === "tab" && event.key.startsWith("Arrow")) return;
    const key = keys()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!key) return;
    event.preventDefault();
    key.act(event);
  });
}
