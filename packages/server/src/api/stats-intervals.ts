/** The intervals into which figures over time are divided. */

export const INTERVALS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Interval = keyof typeof INTERVALS;
export const POINTS_MAX = 1_500;
