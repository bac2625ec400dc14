/** `GET /v1/stats`. */

export interface StatsPoint {
  at: string;
  accepted: number;
  duplicates: number;
  refused: number;
  runsStarted: number;
  runsCompleted: number;
  runsFailed: number;
}

export interface Stats {
  interval: string | number;
  points: StatsPoint[];
  queue: { waiting: number; oldestAgeMs: number; history: QueuePoint[] };
}

export interface QueuePoint {
  at: string;
  waiting: number;
  oldestAgeMs: number;
}
