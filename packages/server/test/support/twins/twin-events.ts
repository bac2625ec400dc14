/** Requests about events, their types, and what finds them. Internal events are left out: when drift is noticed is for each service. */

import type { Random } from "../attacks/attack-plan.ts";
import { type Known, learnList, type TwinAction } from "./twin-action.ts";
import { DEDUP_IDS, event, LIMITS, NAMES, PATTERNS, QUIET_NAMES, query, TEXTS, times, WHERE } from "./twin-values.ts";

export function sendEvents(random: Random, now: number): TwinAction {
  const count = random.pick([1, 1, 2, 5, 30]);
  const events = Array.from({ length: count }, () => event(random, now, count === 1 ? NAMES : QUIET_NAMES));
  return {
    method: "POST",
    path: `/e/${random.next() < 0.05 ? "unknown" : "test-event-key"}`,
    text: count === 1 ? (events[0] as string) : `[${events.join(",")}]`,
    headers: { ...(random.next() < 0.1 && { "x-inngest-event-id-seed": `${now - random.below(3)},AAAAAAAAAAAAAA==` }) },
    learn: learnEvents,
  };
}

export const learnEvents: NonNullable<TwinAction["learn"]> = ([one, other], known) => {
  for (const [n, id] of ((one.body?.ids as string[]) ?? []).entries()) known.add("event", [id, other.body.ids[n]]);
};

export function listEvents(random: Random, now: number): TwinAction {
  const found = query(
    random,
    {
      ...times(random, now),
      name: () => random.pick(PATTERNS),
      id: () => random.pick(DEDUP_IDS),
      source: () => random.pick(["key", "webhook", "function", "internal", "nothing"]),
      q: () => random.pick(TEXTS),
      matched: () => random.pick(["true", "false"]),
      where: () => random.pick(WHERE),
      limit: () => random.pick(LIMITS),
    },
    0.2,
  );
  return { method: "GET", path: `/v1/events?internal=false&${found}`, learn: learnList("event") };
}

export function eventTypes(random: Random): TwinAction {
  const at = `/v1/event-types/${encodeURIComponent(random.pick(NAMES))}`;
  const schema = random.pick([
    null,
    { type: "object", required: ["n"] },
    { properties: { text: { type: "string", maxLength: 3 } } },
    { type: "nothing" },
  ]);
  switch (random.below(6)) {
    case 0:
      return { method: "PUT", path: at, body: { schema, mode: random.pick(["observe", "warn", "refuse"]) } };
    case 1:
      return { method: "PUT", path: at, body: { description: random.pick(TEXTS), retention: random.pick(["7d", null]) } };
    case 2:
      return { method: "POST", path: `${at}/check`, body: { data: { n: 1, text: "abcd" } } };
    case 3:
      return { method: "GET", path: `${at}/versions` };
    case 4:
      return { method: "GET", path: `/v1/event-schemas?limit=${random.pick(LIMITS)}` };
    default:
      return { method: "GET", path: `${at}/waiting` };
  }
}

/** Whatever else shows what was stored. */
export function others(random: Random, _: number, known: Known): TwinAction {
  const event = known.pick(random, "event");
  switch (random.below(9)) {
    case 0:
      return { method: "GET", path: "/v1/events/{}", ids: [event] };
    case 1:
      return { method: "GET", path: `/v1/find?id=${encodeURIComponent(random.pick(DEDUP_IDS).toWellFormed())}` };
    case 2:
      return { method: "GET", path: "/v1/find?id={}", ids: [event] };
    case 3:
      return {
        method: "GET",
        path: `/v1/audit-log?${query(random, { action: () => random.pick(["webhook.created", "key.created", "nothing"]), limit: () => random.pick(LIMITS) })}`,
      };
    case 4:
      return {
        method: "PUT",
        path: "/v1/saved-filters",
        body: { list: random.pick(["events", "runs"]), name: random.pick(TEXTS), search: { q: random.pick(TEXTS) } },
      };
    case 5:
      return { method: "GET", path: `/v1/saved-filters?list=${random.pick(["events", "runs"])}` };
    case 6:
      return {
        method: "DELETE",
        path: `/v1/saved-filters/events/${encodeURIComponent(random.pick(TEXTS.filter(Boolean)).toWellFormed())}`,
      };
    case 7:
      return { method: "POST", path: "/v1/signals", body: { signal: random.pick(["a", "b"]), data: { n: 1 } } };
    default:
      return { method: "GET", path: "/v1/events/run-counts?ids={},{}", ids: [event, known.pick(random, "event")] };
  }
}
