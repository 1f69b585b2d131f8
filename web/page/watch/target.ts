// What `One request` shows: the request of the host or the access that is followed, or else the access that began last.

import { accessTimeline, type RequestTimeline } from "./timeline.ts";
import type { Window } from "./window.ts";

export class FollowTarget {
  /** A request of the host, or an access of the station on the stage by its number. */
  private target: { readonly request: RequestTimeline } | { readonly access: number } | null = null;
  private lastTimeline: RequestTimeline | null = null;

  clear(): void {
    this.target = null;
    this.lastTimeline = null;
  }

  followRequest(timeline: RequestTimeline): void {
    this.target = { request: timeline };
  }

  followAccess(id: number): void {
    this.target = { access: id };
  }

  /** Follows an access, or stops following if anything is followed already or there is no access. */
  toggle(id: number | null): void {
    this.target = this.target !== null || id === null ? null : { access: id };
  }

  get isRequest(): boolean {
    return this.target !== null && "request" in this.target;
  }

  /** The number of what is followed. */
  get id(): number | null {
    if (this.target === null) return null;
    return "request" in this.target ? this.target.request.id : this.target.access;
  }

  /** The timeline at an instant. It is kept when its access is no longer in the window. */
  timeline(window: Window, t: number, station: number): RequestTimeline | null {
    const { target } = this;
    if (target && "request" in target) return target.request;
    const row = target ? window.row(target.access, station) : window.lastStartedRow(t, station);
    if (row != null) this.lastTimeline = accessTimeline(window.data.accesses, row);
    else if (!target && this.lastTimeline && this.lastTimeline.start_ns > t) this.lastTimeline = null;
    return this.lastTimeline;
  }
}
