// The stage of a station: a sled under its tips, a disk, or only the waiting requests of a device in which nothing moves.

import type { Laboratory } from "../../core/laboratory.ts";
import { DiskStage } from "./disk.ts";
import type { Player } from "./player.ts";
import { SledStage } from "./sled.ts";
import type { Choice } from "./window.ts";

export interface Stage {
  readonly element: HTMLElement;
  /** Whether something has changed that is not drawn yet, such as the map. */
  readonly isStale: boolean;
  /** Draws an instant: waiting requests, and the choice; `isStill` if the text for screen readers is updated too. */
  draw(t: number, waiting: readonly number[], choice: Choice | null, isStill: boolean): void;
  toggleMap(): void;
  /** The stage of another station. */
  forStation(station: number): Stage;
}

export function createStage(player: Player, station: number, core: Laboratory, onChange: () => void): Stage {
  const forStation = (other: number) => createStage(player, other, core, onChange);
  return player.description.stations[station]?.sled
    ? new SledStage(player, station, core, forStation)
    : new DiskStage(player, station, forStation);
}
