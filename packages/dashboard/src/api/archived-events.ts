/**
 * One event of the archive. The service lists archived events and has no address for one of them: it is taken from a list that is loaded,
 * or looked for at the time that its id begins with.
 */

import { eventIdTime } from "@inlet/protocol/event-id";
import { type InfiniteData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { eventPage } from "./queries.ts";
import type { EventItem } from "./types.ts";

type EventPages = InfiniteData<{ items: EventItem[] }>;

export const archivedEventQuery = (env: string, id: string) =>
  queryOptions({
    queryKey: ["event", env, id, "archived"],
    queryFn: async ({ client }) => listedEvent(client, env, id) ?? (await findEvent(env, id)),
  });

function listedEvent(client: QueryClient, env: string, id: string): EventItem | undefined {
  const lists = client.getQueriesData<EventPages>({ queryKey: ["events", env] });
  return lists.flatMap(([, list]) => list?.pages.flatMap(({ items }) => items) ?? []).find((event) => event.id === id);
}

async function findEvent(env: string, id: string): Promise<EventItem> {
  // An id that a sender chose may begin with another time than that at which the event was received.
  const at = eventIdTime(id);
  for (let cursor: string | undefined; ; ) {
    const { items, next } = await eventPage(env, { archived: "true", from: at, to: at + 1 }, cursor);
    const found = items.find((event) => event.id === id);
    if (found) return found;
    if (next === null) throw new Error("The archive has no such event at the time of its ID. Find it in the list, by name and time.");
    cursor = next;
  }
}
