// What `One request` shows: the request of the host or the access that is followed, or else the access that began last.

import { accessLife, type Life } from "./life.ts";
import type { Window } from "./window.ts";

export class Following {
  /** A request of the host, or an access of the station on the stage by its number. */
  private followed: { readonly request: Life } | { readonly access: number } | null = null;
  private shown: Life | null = null;

  clear(): void {
    this.followed = null;
    this.shown = null;
  }

  request(life: Life): void {
    this.followed = { request: life };
  }

  access(id: number): void {
    this.followed = { access: id };
  }

  /** Follows an access, or stops following if anything is followed already or there is no access. */
  toggle(id: number | null): void {
    this.followed = this.followed !== null || id === null ? null : { access: id };
  }

  get isRequest(): boolean {
    return this.followed !== null && "request" in this.followed;
  }

  /** The number of what is followed. */
  get id(): number | null {
    if (this.followed === null) return null;
    return "request" in this.followed ? this.followed.request.id : this.followed.access;
  }

  /** The life at an instant. It is kept when its access is no longer in the window. */
  life(window: Window, t: number, station: number): Life | null {
    const { followed } = this;
    if (followed && "request" in followed) return followed.request;
    const row = followed ? window.row(followed.access, station) : window.latest(t, station);
    if (row != null) this.shown = accessLife(window.watched.accesses, row);
    else if (!followed && this.shown && this.shown.start_ns > t) this.shown = null;
    return this.shown;
  }
}
