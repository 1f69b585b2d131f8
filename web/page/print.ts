// Printing: charts keep their sizes, so paper gets the layout of the window, scaled.

/** Width of the text on A4 and US Letter paper, in CSS pixels. */
const PAPER_WIDTH_PX = 700;

/** Before each print, sets the width of the window and the scale of the paper for the style sheet. */
export function prepareForPrint(frame: HTMLElement): void {
  addEventListener("beforeprint", () => {
    frame.style.setProperty("--window-width", `${frame.clientWidth}px`);
    frame.style.setProperty("--paper-scale", String(PAPER_WIDTH_PX / frame.clientWidth));
  });
}
