/** How many runs an event started, by status. Rows that load at the same time share one request. */

import { queryOptions } from "@tanstack/react-query";
import { call } from "./client.ts";
import { ENDED_STATUSES, type RunCounts } from "./types.ts";

const GATHER_MS = 40;
const IDS_MAX = 100;
const WATCH_MS = 2_000;
/** Runs are created with their event, or a moment later if the function limits its starts. */
const YOUNG_MS = 10_000;

export const runCountsQuery = (env: string, id: string, receivedAt: string) =>
  queryOptions({
    queryKey: ["run-counts", env, id],
    queryFn: () => gather(env, id),
    retry: false,
    staleTime: WATCH_MS,
    refetchInterval: ({ state }) => (mayChange(state.data, receivedAt) ? WATCH_MS : false),
  });

function mayChange(counts: RunCounts | undefined, receivedAt: string): boolean {
  if (Date.now() - Date.parse(receivedAt) < YOUNG_MS) return true;
  return Object.keys(counts ?? {}).some((status) => !ENDED_STATUSES.has(status));
}

interface Asked {
  id: string;
  resolve: (counts: RunCounts) => void;
  reject: (error: unknown) => void;
}

const waiting = new Map<string, Asked[]>();

function gather(env: string, id: string): Promise<RunCounts> {
  return new Promise((resolve, reject) => {
    const asked = waiting.get(env) ?? [];
    if (asked.length === 0) setTimeout(() => ask(env), GATHER_MS);
    waiting.set(env, [...asked, { id, resolve, reject }]);
  });
}

function ask(env: string): void {
  const all = waiting.get(env) ?? [];
  waiting.delete(env);
  for (let start = 0; start < all.length; start += IDS_MAX) void askFor(env, all.slice(start, start + IDS_MAX));
}

async function askFor(env: string, asked: readonly Asked[]): Promise<void> {
  try {
    const ids = asked.map(({ id }) => id).join(",");
    const found = await call<{ id: string; runs: RunCounts }[]>("/events/run-counts", { env, query: { ids } });
    const byId = new Map(found.map(({ id, runs }) => [id, runs]));
    for (const { id, resolve } of asked) resolve(byId.get(id) ?? {});
  } catch (error) {
    for (const { reject } of asked) reject(error);
  }
}
