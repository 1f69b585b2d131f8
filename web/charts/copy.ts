// Copies tables of a report, for spreadsheets.

import { append } from "./dom.ts";

/** How long a button says that it has copied, in ms. */
const CONFIRMATION_MS = 1500;

/** Adds a button that copies the table, as lines of cells separated by tabs. */
export function addCopyButton(table: HTMLTableElement): void {
  const paragraph = append("p", table.parentElement!, "", { class: "copy-table" });
  const button = append("button", paragraph, "Copy table", { type: "button" });
  button.onclick = () => {
    void navigator.clipboard?.writeText(tableText(table)).then(() => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy table"), CONFIRMATION_MS);
    }, () => undefined);
  };
}

function tableText(table: HTMLTableElement): string {
  return [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t")).join("\n");
}
