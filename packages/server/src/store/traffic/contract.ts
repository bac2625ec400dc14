/** Traffic: counts per minute and hour of an environment. Accepted events and runs are exact, after a crash too; refused and duplicate events since the last write are lost with the process. */

import type { EnvironmentId } from "@inlet/protocol";

export const TRAFFIC_FIGURES = ["accepted", "duplicates", "refused", "runsStarted", "runsCompleted", "runsFailed"] as const;
export type TrafficFigure = (typeof TRAFFIC_FIGURES)[number];
export type TrafficFigures = Record<TrafficFigure, number>;

export interface TrafficMinute {
  environmentId: EnvironmentId;
  /** Any time within the minute. */
  at: number;
  figures: TrafficFigures;
}

export interface TrafficListParams {
  environmentId: EnvironmentId;
  from: number;
  to: number;
  /** A minute, or a whole number of hours. */
  intervalMs: number;
}

export interface TrafficStore {
  /** Adds to the existing counts. */
  trafficAdd(params: { minutes: readonly TrafficMinute[] }): Promise<void>;
  /** Intervals with activity, oldest first; `at` is when each began. */
  trafficList(params: TrafficListParams): Promise<{ at: number; figures: TrafficFigures }[]>;
  /** Removes at most `limit` minutes that began at or before `minutesUntil`, and hours at or before `hoursUntil`. Returns how many. */
  trafficExpireMany(params: { minutesUntil: number; hoursUntil: number; limit: number }): Promise<number>;
}
