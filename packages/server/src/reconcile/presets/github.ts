/**
 * GitHub: the deliveries of a repository's hook, newest first. The list has no payloads: the one of each delivery that is not known by its
 * guid is asked for. https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
 */

import type { ListRange, PageResponse, ReadPage } from "../page-reader.ts";
import { addressOf, bearer, inRange, jsonOf, nextInLink, type Preset, type PresetOptions, recordsOf } from "./preset.ts";

interface Delivery {
  guid: string;
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
  read({ since, until, cursor, ...response }) {
    const found = jsonOf(response);
    if (isDelivery(cursor as Cursor)) return { items: [itemOf(found as Delivery)] };
    return readList(found, response, { since, until });
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
function readList(found: unknown, response: PageResponse, range: ListRange): ReadPage {
  const { within, isPast } = inRange(recordsOf(found, "deliveries"), ({ delivered_at }) => delivered_at, range);
  const byGuid = new Map(within.map(({ guid, id }) => [String(guid), String(id)]));
  const references = [...byGuid].map(([guid, delivery]) => ({ id: guid, cursor: { delivery } }));
  const next = nextInLink(response, "cursor");
  return next === undefined || isPast ? { items: [], references } : { items: [], references, cursor: { list: next } };
}

/** A hook that sends forms lists its payload as JSON, too. */
function itemOf({ guid, request }: Delivery) {
  const headers = { ...request?.headers };
  for (const name of Object.keys(headers)) {
    if (name.toLowerCase() === "content-type" && String(headers[name]).startsWith(FORM)) headers[name] = "application/json";
  }
  return { id: guid, headers, body: request?.payload ?? {} };
}
