/** The runs list: loaded pages, updated by the live stream, which reports every change of a run. There is no gap between the two. */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useMemo, useState } from "react";
import { followJoined } from "../api/joined-stream.ts";
import type { LiveState } from "../api/live.ts";
import { type Filters, runsQuery } from "../api/queries.ts";
import type { RunItem } from "../api/types.ts";
import { isWantedRun } from "./run-search.ts";

const SHOW_EVERY_MS = 200;
/** A list that only the service can filter is reloaded. */
const SEARCH_EVERY_MS = 5_000;
/** Beyond this many changed runs, the list keeps the newest runs and is continued by paging. */
const CHANGED_MAX = 2_000;
const KEPT_MAX = 1_000;

export function useRunList(env: string, filters: Filters, paused: boolean) {
  const queries = useQueryClient();
  const key = JSON.stringify([env, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  const query = useMemo(() => runsQuery(env, filters), [key]);
  const isSearch = isSearched(filters);
  const pages = useInfiniteQuery({ ...query, refetchInterval: isSearch && !paused ? SEARCH_EVERY_MS : false });
  const [changed, setChanged] = useState<ReadonlyMap<string, RunItem>>(new Map());
  const [live, setLive] = useState<LiveState>("connecting");

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  useEffect(() => setChanged(new Map()), [key]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  useEffect(() => {
    if (paused) return;
    /** What arrives for filters that are no longer set changes nothing. */
    let isLeft = false;
    const startOver = () => queries.resetQueries({ queryKey: query.queryKey });
    /** Loads all pages again: the stream tells nothing about runs that changed while it was closed. */
    const join = async () => {
      if (queries.getQueryState(query.queryKey)?.status === "error") return startOver();
      await queries.ensureInfiniteQueryData(query);
      await queries.refetchQueries({ queryKey: query.queryKey, exact: true }, { throwOnError: true });
      if (!isLeft) setChanged(new Map());
    };
    const stop = followJoined({
      path: "/runs/stream",
      env,
      everyMs: SHOW_EVERY_MS,
      join: () => join().catch(startOver),
      onMessages: (messages) => {
        const arrived = messages.map((text) => JSON.parse(text) as RunItem);
        setChanged((before) => new Map([...before, ...arrived.map((run) => [run.id, run] as const)]));
      },
      onState: setLive,
    });
    return () => {
      isLeft = true;
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

  useLayoutEffect(() => {
    if (changed.size <= CHANGED_MAX) return;
    const items = runs.slice(0, KEPT_MAX);
    const last = items.at(-1);
    const next = last && (runs.length > KEPT_MAX || pages.hasNextPage) ? last.id : null;
    void queries.cancelQueries({ queryKey: query.queryKey, exact: true }, { revert: false }).then(() => {
      if (last) queries.setQueryData(query.queryKey, { pages: [{ items, next }], pageParams: [undefined] });
      setChanged((before) => new Map([...before].filter(([id, run]) => changed.get(id) !== run)));
    });
  }, [changed, runs, pages.hasNextPage, queries, query]);
  return { pages, runs, live };
}

/** Only the service can evaluate an expression or a pattern, and knows which runs were rerun. */
function isSearched({ where, errorPattern, rerun }: Filters): boolean {
  return where !== undefined || errorPattern !== undefined || rerun !== undefined;
}
