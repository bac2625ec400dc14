/**
 * The events list: loaded pages, with events from the live stream on top. While the list is paused or scrolled down,
 * new events are counted and held back, so that the list does not move.
 */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { follow, type LiveState } from "../api/live.ts";
import { eventPage, eventsQuery, type Filters, PAGE_ITEMS } from "../api/queries.ts";
import { readEvent } from "../api/read-items.ts";
import type { EventItem } from "../api/types.ts";
import { isWanted } from "./event-search.ts";

/** Beyond this many new events the list is reloaded, which bounds memory. */
const FRESH_MAX = 1_000;
/** The minimum time between two reloads under high volume. */
const START_OVER_EVERY_MS = 3_000;
/** New events are rendered in batches at this interval. */
const SHOW_EVERY_MS = 150;
/** A list that only the service can filter is reloaded. */
const SEARCH_EVERY_MS = 5_000;

export function useEventList(env: string, filters: Filters, held: boolean) {
  const queries = useQueryClient();
  const key = JSON.stringify([env, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  const query = useMemo(() => eventsQuery(env, filters), [key]);
  const isSearch = Boolean(filters.where || filters.matched);
  const pages = useInfiniteQuery({ ...query, refetchInterval: isSearch && !held ? SEARCH_EVERY_MS : false });
  const [fresh, setFresh] = useState<readonly EventItem[]>([]);
  const [waiting, setWaiting] = useState<readonly EventItem[]>([]);
  const [live, setLive] = useState<LiveState>("connecting");
  const heldNow = useRef(held);
  heldNow.current = held;

  const startedOverAt = useRef(0);
  const startOver = useCallback(() => {
    if (Date.now() - startedOverAt.current < START_OVER_EVERY_MS) return;
    startedOverAt.current = Date.now();
    setFresh([]);
    setWaiting([]);
    void queries.resetQueries({ queryKey: query.queryKey });
  }, [queries, query]);

  const take = useCallback(
    (arrived: readonly EventItem[]) => {
      const add = (before: readonly EventItem[]) => newestFirst(arrived, before);
      if (heldNow.current) setWaiting((before) => add(before).slice(0, FRESH_MAX));
      else
        setFresh((before) => {
          const after = add(before);
          if (after.length > FRESH_MAX) queueMicrotask(startOver);
          return after.slice(0, FRESH_MAX);
        });
    },
    [startOver],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  useEffect(() => {
    setFresh([]);
    setWaiting([]);
    let arrived: EventItem[] = [];
    const show = () => {
      if (arrived.length > 0) take(arrived);
      arrived = [];
    };
    /** Adds the events that arrived between loading the list and opening the stream. Reloads if there is more than a page of them, or on error. */
    const fillGap = async () => {
      const state = queries.getQueryState(query.queryKey);
      if (state?.status === "error") return startOver();
      const { items } = await eventPage(env, filters).catch(() => ({ items: [] }));
      const known = new Set(state?.data?.pages[0]?.items.map(({ id }) => id));
      if (known.size > 0 && items.length === PAGE_ITEMS && !items.some(({ id }) => known.has(id))) startOver();
      else if (!isSearch) arrived.push(...items.toReversed());
    };
    const timer = setInterval(show, SHOW_EVERY_MS);
    const stop = follow({
      path: "/events/stream",
      env,
      ...(filters.name ? { query: { name: String(filters.name) } } : {}),
      onMessage: (text) => {
        const event = readEvent(text);
        if (isWanted(event, filters)) arrived.push(event);
      },
      onState: (state) => {
        setLive(state);
        if (state === "live") void fillGap();
      },
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [key, take]);

  const loaded = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data]);
  const events = useMemo(() => {
    const known = new Set(loaded.map(({ id }) => id));
    return [...fresh.filter(({ id }) => !known.has(id)), ...loaded];
  }, [fresh, loaded]);
  const waitingNew = useMemo(() => {
    const known = new Set(events.map(({ id }) => id));
    return waiting.filter(({ id }) => !known.has(id));
  }, [waiting, events]);

  const showWaiting = () => {
    if (waitingNew.length >= FRESH_MAX) return startOver();
    setFresh((before) => newestFirst(waitingNew, before));
    setWaiting([]);
  };
  return { pages, events, live, waiting: waitingNew.length, showWaiting, startOver };
}

/** Merges two lists without duplicates. Ids sort by time. */
function newestFirst(arrived: readonly EventItem[], before: readonly EventItem[]): EventItem[] {
  const byId = new Map([...before, ...arrived].map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}
