// The stage of a station: a sled under its tips, a disk, or only the waiting requests of a device in which nothing moves.

import type { Laboratory } from "../../core/laboratory.ts";
import { DiskStage } from "./disk.ts";
import type { Player } from "./player.ts";
import { SledStage } from "./sled.ts";
import type { Choice } from "./window.ts";

export interface Stage {
  readonly element: HTMLElement;
  /** Whether something has changed that is not drawn yet, such as the map. */
  readonly stale: boolean;
  /** Draws an instant: waiting requests, and the choice; `still` where the text for screen readers is to follow. */
  draw(t: number, waiting: readonly number[], choice: Choice | null, still: boolean): void;
  toggleMap(): void;
  /** The stage of another station. */
  forStation(station: number): Stage;
}

export function createStage(player: Player, station: number, core: Laboratory, arrived: () => void): Stage {
  const forStation = (other: number) => createStage(player, other, core, arrived);
  return player.description.stations[station]?.sled
    ? new SledStage(player, station, core, forStation)
    : new DiskStage(player, station, forStation);
}
