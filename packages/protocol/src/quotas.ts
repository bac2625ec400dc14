/** What an environment may use. Events and bytes are refused beyond a quota, calls wait, and the oldest stored data is removed. */

export const QUOTAS = ["eventsPerSecond", "eventsPerDay", "bytesPerDay", "callsAtOnce", "storedBytes"] as const;
export type Quota = (typeof QUOTAS)[number];
