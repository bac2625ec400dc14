/** The usual rhythm of a webhook or an event type. */

import { queryOptions } from "@tanstack/react-query";
import { call } from "./client.ts";

export interface Rhythm {
  knownFrom: string;
  /** For each hour of the week (UTC), from Monday 00:00 on. Null: not known yet. */
  week: number[] | null;
  longestGapSeconds: number | null;
  since: string | null;
}

/** It changes slowly. */
const STALE_MS = 600_000;

export const webhookRhythmQuery = (id: string) => rhythmQuery(`/webhooks/${encodeURIComponent(id)}/rhythm`, null);
export const eventRhythmQuery = (env: string, name: string) => rhythmQuery(`/event-types/${encodeURIComponent(name)}/rhythm`, env);

export type RhythmQuery = ReturnType<typeof rhythmQuery>;

function rhythmQuery(path: string, env: string | null) {
  return queryOptions({
    queryKey: ["rhythm", env, path],
    queryFn: () => call<Rhythm>(path, env === null ? {} : { env }),
    staleTime: STALE_MS,
  });
}
