/** What every step of a move works with. */

import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { Database } from "../../postgres/database.ts";

/** The named points of a move, in order: tests end the process at each. */
export const MOVE_POINTS = [
  "recorded",
  "changes are recorded",
  "target is ready",
  "half is copied",
  "all is copied",
  "held",
  "last changes are copied",
  "compared",
  "sealed",
  "switched",
  "arrived",
  "half is forgotten",
  "forgotten",
] as const;
export type MovePoint = (typeof MOVE_POINTS)[number];

/** An environment in one database of its move, for the node that works on it. */
export interface MoveSide {
  database: Database;
  environmentId: EnvironmentId;
  jobId: JobId;
  epoch: number;
}

/** Another node works on the move: nothing of what this one attempts has an effect. */
export class MoveLost extends Error {}

/** The move cannot succeed. The message is a sentence for people. */
export class MoveRefused extends Error {}

/** Beyond every time. */
export const FOREVER = 8_640_000_000_000_000;
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
