/**
 * Places among the runs of a function that limits how many of them there are at a time. A run that needs one waits in a lane of
 * its own, its gate; with the place it goes on in another lane, and keeps the place until it has ended, asleep or not.
 */

import type { RunNo } from "@inlet/protocol";

export interface PlaceGrantParams {
  /** The name that places which are counted together share. */
  place: string;
  /** How many there are. */
  cap: number;
  /** Where runs wait, and the lane in which those of each gate go on. */
  gates: readonly { lane: string; home: string }[];
  now: number;
}

export interface PlaceGrantResult {
  /** Runs that hold a place now. */
  holders: RunNo[];
  /** Gates at which others wait. */
  waiting: string[];
  /** More could have been let in at once. */
  more: boolean;
}

export interface PlaceStore {
  /**
   * Gives free places to runs that wait, lowest rank first, some hundreds at a time at most, and announces the lanes they go on in.
   * However many nodes do this at the same time, no more places are given than there are.
   */
  placeGrantMany(params: PlaceGrantParams): Promise<PlaceGrantResult>;
  /** Forgets places of runs that have ended; says how many. */
  placeForgetMany(params: { limit: number }): Promise<number>;
}

/** Bounds how long one transaction takes. */
export const GRANTS_MAX = 500;
