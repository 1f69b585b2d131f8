// What the view Watch needs of the page around it.

/** An instant of a run, and the request that is followed. */
export interface Place {
  readonly t: number;
  readonly request: number | null;
}

export interface WatchHost {
  /** Shows an error. */
  fail(error: unknown): void;
  /** Removes the last message, as a later action has succeeded. */
  clearMessage(): void;
  /** Keeps the instant and the followed request in the address. */
  savePlace(place: Place): void;
}
