/**
 * The events list: loaded pages, with events from the live stream on top, without a gap between them. While the list is held (paused
 * or scrolled down), new events are counted and kept back, so that the list does not move; they appear when it is released.
 */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { followJoined } from "../api/joined-stream.ts";
import type { LiveState } from "../api/live.ts";
import { eventPage, eventsQuery, type Filters } from "../api/queries.ts";
import { readEvent } from "../api/read-items.ts";
import type { EventItem } from "../api/types.ts";
import { isWanted } from "./event-search.ts";
import { EMPTY_TAIL, extendTail, joinTails, TAIL_MAX, type Tail } from "./event-tail.ts";

/** New events are rendered in batches at this interval. */
const SHOW_EVERY_MS = 150;
/** A list that only the service can filter is reloaded. */
const SEARCH_EVERY_MS = 5_000;

/** Shown on top of the pages, and kept back. */
interface Tails {
  shown: Tail;
  waiting: Tail;
}

const NOTHING: Tails = { shown: EMPTY_TAIL, waiting: EMPTY_TAIL };

export function useEventList(env: string, filters: Filters, held: boolean) {
  const queries = useQueryClient();
  const key = JSON.stringify([env, filters]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  const query = useMemo(() => eventsQuery(env, filters), [key]);
  const isSearch = Boolean(filters.where || filters.matched);
  const pages = useInfiniteQuery({ ...query, refetchInterval: isSearch && !held ? SEARCH_EVERY_MS : false });
  const [tails, setTails] = useState(NOTHING);
  const { shown, waiting } = tails;
  const [live, setLive] = useState<LiveState>("connecting");
  const heldNow = useRef(held);
  heldNow.current = held;
  const tailsNow = useRef(tails);
  tailsNow.current = tails;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key contains all filters
  useEffect(() => {
    setTails(NOTHING);
    // What is archived does not arrive live.
    if (filters.archived) return;
    /** What arrives for filters that are no longer set changes nothing. */
    let isLeft = false;
    const startOver = async () => {
      if (isLeft) return;
      setTails(NOTHING);
      return queries.resetQueries({ queryKey: query.queryKey });
    };
    let isContinuous = false;
    /** Adds the events that arrived before the stream was opened, and are not in the list. */
    const join = async () => {
      // A stream that was open before resumes where it ended, unless that is long ago.
      const isNew = !isContinuous;
      isContinuous = true;
      if (queries.getQueryState(query.queryKey)?.status === "error") return startOver();
      if (isSearch || !isNew) return;
      const { pages: loadedPages } = await queries.ensureInfiniteQueryData(query);
      const known = [tailsNow.current.waiting.events, tailsNow.current.shown.events, loadedPages[0]?.items ?? []].flat();
      const missed = await readMissed(env, filters, new Set(known.map(({ id }) => id)));
      if (isLeft) return;
      setTails(({ shown, waiting }) =>
        heldNow.current ? { shown, waiting: joinTails(missed, waiting) } : { shown: joinTails(missed, shown), waiting },
      );
    };
    const stop = followJoined({
      path: "/events/stream",
      env,
      ...(filters.name ? { query: { name: String(filters.name) } } : {}),
      everyMs: SHOW_EVERY_MS,
      join: () => join().catch(startOver),
      onSkip: () => {
        isContinuous = false;
      },
      onMessages: (messages) => {
        const batch = messages.map(readEvent).filter((event) => isWanted(event, filters));
        if (batch.length > 0) setTails((before) => (heldNow.current ? keepBack(before, batch) : extendShown(before, batch)));
      },
      onState: setLive,
    });
    return () => {
      isLeft = true;
      stop();
    };
  }, [key]);

  const showWaiting = () => setTails(release);
  useLayoutEffect(() => {
    if (!held) setTails(release);
  }, [held]);

  // A tail that dropped events becomes the first page. Paging continues below its last event.
  useLayoutEffect(() => {
    if (shown.dropped === 0) return;
    const page = { items: [...shown.events], next: shown.events.at(-1)?.id ?? null };
    void queries.cancelQueries({ queryKey: query.queryKey, exact: true }, { revert: false }).then(() => {
      queries.setQueryData(query.queryKey, { pages: [page], pageParams: [undefined] });
      setTails((before) => ({ ...before, shown: before.shown === shown ? EMPTY_TAIL : before.shown }));
    });
  }, [shown, queries, query]);

  const loaded = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data]);
  const events = useMemo(() => {
    if (shown.dropped > 0) return shown.events;
    const known = new Set(loaded.map(({ id }) => id));
    return [...shown.events.filter(({ id }) => !known.has(id)), ...loaded];
  }, [shown, loaded]);
  return { pages, events, live, waiting: waiting.events.length + waiting.dropped, showWaiting };
}

function keepBack({ shown, waiting }: Tails, arrived: readonly EventItem[]): Tails {
  return { shown, waiting: extendTail(waiting, arrived) };
}

function extendShown({ shown, waiting }: Tails, arrived: readonly EventItem[]): Tails {
  return { shown: extendTail(shown, arrived), waiting };
}

/** The events above those known, from the top of the list; of very many the newest, with an unknown number dropped. */
async function readMissed(env: string, filters: Filters, known: ReadonlySet<string>): Promise<Tail> {
  const events: EventItem[] = [];
  for (let cursor: string | undefined; events.length < TAIL_MAX; ) {
    const { items, next } = await eventPage(env, filters, cursor);
    const at = items.findIndex(({ id }) => known.has(id));
    events.push(...(at < 0 ? items : items.slice(0, at)));
    if (at >= 0 || next === null) return { events, dropped: 0 };
    cursor = next;
  }
  return { events, dropped: Number.POSITIVE_INFINITY };
}

function release({ shown, waiting }: Tails): Tails {
  return waiting === EMPTY_TAIL ? { shown, waiting } : { shown: joinTails(waiting, shown), waiting: EMPTY_TAIL };
}
