// What the view Watch needs of the page around it.

export interface WatchHost {
  /** Shows an error. */
  fail(error: unknown): void;
  /** Removes the last message, as a later action has succeeded. */
  clearMessage(): void;
  /** Keeps the instant and the followed request in the address. */
  savePlace(place: { t: number; request: number | null }): void;
}
