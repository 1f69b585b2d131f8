// Says above a table that is wider than its room how many of its columns are out of sight.

import { append } from "./dom.ts";

/** Adds a note to the element in which a table scrolls; it is hidden while all columns are in sight. */
export function addScrollNote(table: HTMLTableElement): void {
  const scroller = table.parentElement!;
  const note = append("p", scroller, "", { class: "scroll-note" });
  scroller.prepend(note);
  const update = () => {
    const right = scroller.getBoundingClientRect().right;
    const hiddenCount = [...(table.rows[0]?.cells ?? [])].filter((cell) => cell.getBoundingClientRect().right > right + 1).length;
    const isWider = scroller.scrollWidth > scroller.clientWidth + 1;
    note.hidden = !isWider;
    note.textContent = hiddenCount > 0 ? `${hiddenCount} more ${hiddenCount === 1 ? "column" : "columns"} on the right: scroll sideways` : "End of the table: scroll back";
  };
  scroller.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(scroller);
}
