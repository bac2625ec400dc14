/** The runs list: loaded pages, updated by the live stream, which reports every change of a run. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { follow, type LiveState } from "../api/live.ts";
import { type Filters, runPage, runsQuery } from "../api/queries.ts";
import type { RunItem } from "../api/types.ts";
import { isWantedRun } from "./run-search.ts";

const SHOW_EVERY_MS = 200;
/** A list that only the service can filter is reloaded. */
const SEARCH_EVERY_MS = 5_000;
const CHANGED_MAX = 2_000;

export function useRunList(env: string, filters: Filters, paused: boolean) {
  const key = JSON.stringify([env, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  const query = useMemo(() => runsQuery(env, filters), [key]);
  const isSearch = isSearched(filters);
  const pages = useInfiniteQuery({ ...query, refetchInterval: isSearch && !paused ? SEARCH_EVERY_MS : false });
  const [changed, setChanged] = useState<ReadonlyMap<string, RunItem>>(new Map());
  const [live, setLive] = useState<LiveState>("connecting");

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  useEffect(() => {
    setChanged(new Map());
    if (paused) return;
    let arrived: RunItem[] = [];
    const timer = setInterval(() => {
      if (arrived.length === 0) return;
      const batch = arrived;
      arrived = [];
      setChanged((before) => newestOf([...before.values(), ...batch]));
    }, SHOW_EVERY_MS);
    const stop = follow({
      path: "/runs/stream",
      env,
      onMessage: (text) => void arrived.push(JSON.parse(text) as RunItem),
      onState: (state) => {
        setLive(state);
        if (state === "live")
          void runPage(env, filters).then(
            ({ items }) => arrived.push(...items),
            () => {},
          );
      },
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [key, paused]);

  const runs = useMemo(() => {
    const [, wanted] = JSON.parse(key) as [string, Filters];
    const loaded = pages.data?.pages.flatMap(({ items }) => items) ?? [];
    const oldest = pages.hasNextPage ? (loaded.at(-1)?.id ?? "") : "";
    const byId = new Map([...loaded.map((run) => [run.id, run] as const), ...changed]);
    // Runs that the service did not list are left out.
    const known = new Set(loaded.map(({ id }) => id));
    const isListed = (run: RunItem) => !isSearched(wanted) || known.has(run.id);
    const all = [...byId.values()].filter((run) => run.id >= oldest && isListed(run) && isWantedRun(run, wanted));
    return all.sort((a, b) => (a.id < b.id ? 1 : -1));
  }, [pages.data, pages.hasNextPage, changed, key]);
  return { pages, runs, live };
}

/** Only the service can evaluate an expression or a pattern. */
function isSearched({ where, errorPattern }: Filters): boolean {
  return where !== undefined || errorPattern !== undefined;
}

/** The latest state of each run, bounded to the newest runs. */
function newestOf(runs: readonly RunItem[]): ReadonlyMap<string, RunItem> {
  const byId = new Map(runs.map((run) => [run.id, run]));
  if (byId.size <= CHANGED_MAX) return byId;
  return new Map([...byId].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, CHANGED_MAX));
}
