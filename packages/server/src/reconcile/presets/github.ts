/**
 * GitHub: the deliveries of a repository's hook, newest first. The list has no payloads: the one of each delivery that is not known by its
 * guid is asked for. https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
 */

import type { PageAnswer, ReadPage } from "../page-reader.ts";
import { addressOf, bearer, jsonOf, nextInLink, type Preset, type PresetOptions } from "./preset.ts";

interface Delivery {
  id: number | string;
  guid: string;
  delivered_at: string;
  request?: { headers?: Record<string, unknown> | null; payload?: unknown } | null;
}

type Cursor = { list: string } | { delivery: string } | undefined;

const LIMIT = "100";
const FORM = "application/x-www-form-urlencoded";

export const github: Preset = (options) => ({
  request: ({ cursor, secrets }) => ({
    method: "GET",
    url: pathOf(options, cursor as Cursor),
    headers: { ...bearer(secrets), accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
    body: null,
  }),
  read({ since, until, cursor, ...answer }) {
    const found = jsonOf(answer);
    if (isDelivery(cursor as Cursor)) return { items: [itemOf(found as Delivery)] };
    return readList(found, answer, { since: Date.parse(since), until: Date.parse(until) });
  },
});

function pathOf(options: PresetOptions, cursor: Cursor): string {
  const path = `/repos/${options.repository}/hooks/${options.hook}/deliveries`;
  const origin = "https://api.github.com";
  if (cursor && "delivery" in cursor) return addressOf(options, origin, `${path}/${encodeURIComponent(cursor.delivery)}`);
  return addressOf(options, origin, path, { per_page: LIMIT, ...(cursor && { cursor: cursor.list }) });
}

function isDelivery(cursor: Cursor): boolean {
  return cursor !== undefined && "delivery" in cursor;
}

/** A redelivery has the guid of the first: one of them stands for all. */
function readList(found: unknown, answer: PageAnswer, { since, until }: { since: number; until: number }): ReadPage {
  if (!Array.isArray(found)) throw new Error("The provider's answer is not a list of deliveries.");
  const deliveries = found as Delivery[];
  const inRange = deliveries.filter(({ delivered_at }) => Date.parse(delivered_at) >= since && Date.parse(delivered_at) <= until);
  const byGuid = new Map(inRange.map((delivery) => [delivery.guid, delivery]));
  const references = [...byGuid].map(([guid, { id }]) => ({ id: guid, cursor: { delivery: String(id) } }));
  const next = nextInLink(answer, "cursor");
  const isOlder = deliveries.some(({ delivered_at }) => Date.parse(delivered_at) < since);
  return next === undefined || isOlder ? { items: [], references } : { items: [], references, cursor: { list: next } };
}

/** A hook that sends forms lists its payload as JSON, too. */
function itemOf({ guid, request }: Delivery) {
  const headers = { ...request?.headers };
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() === "content-type" && String(headers[name]).startsWith(FORM)) headers[name] = "application/json";
  }
  return { id: guid, headers, body: request?.payload ?? {} };
}
