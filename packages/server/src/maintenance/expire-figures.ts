/** Sweeper: removes old figures: minutes and hourly event type counts after eight days, activity after nine weeks, hours after 400 days. */

import { DAY_MS } from "@inlet/protocol";
import type { ActivityStore, EventTypeStore, TrafficStore, UsageStore } from "../store/contract/index.ts";
import { Sweeper, type SweeperSettings } from "./sweeper.ts";

const MINUTES_KEPT_MS = 8 * DAY_MS;
const HOURS_KEPT_MS = 400 * DAY_MS;
/** Longer than a rhythm is learnt from. */
const ACTIVITY_KEPT_MS = 63 * DAY_MS;
const TYPE_HOURS_KEPT_MS = 8 * DAY_MS;

export interface ExpireFiguresParts extends SweeperSettings {
  store: EventTypeStore & TrafficStore & ActivityStore & UsageStore;
  now: () => number;
}

export function expireFigures({ store, now, ...parts }: ExpireFiguresParts): Sweeper {
  return new Sweeper({
    ...parts,
    what: "old figures",
    async removeSome(limit) {
      const removed = await store.eventTypeHourExpireMany({ endedUntil: now() - TYPE_HOURS_KEPT_MS, limit });
      if (removed === limit) return removed;
      const [minutesUntil, hoursUntil] = [now() - MINUTES_KEPT_MS, now() - HOURS_KEPT_MS];
      const traffic = await store.trafficExpireMany({ minutesUntil, hoursUntil, limit: limit - removed });
      if (removed + traffic === limit) return limit;
      const activity = await store.activityExpireMany({ until: now() - ACTIVITY_KEPT_MS, limit: limit - removed - traffic });
      const left = limit - removed - traffic - activity;
      return limit - left + (left > 0 ? await store.usageExpireMany({ until: hoursUntil, limit: left }) : 0);
    },
  });
}
