/**
 * GitLab: the events of a project's or a group's hook in the last 7 days, newest first, with the request that was sent. GitLab keeps no
 * secret token, no addresses of mail and no large bodies. https://docs.gitlab.com/api/project_webhooks/
 */

import type { ItemReference, ReadPage } from "../page-reader.ts";
import { addressOf, bearer, fieldOf, get, inRange, jsonOf, nextInLink, type Preset, recordsOf } from "./preset.ts";

/** Events of pipelines have up to some 40 KB, and a page 1 MB. */
const LIMIT = "20";
const OVERSIZE = "The body was too large for GitLab to keep.";

export const gitlab: Preset = (options) => ({
  request({ cursor, secrets }) {
    const query = { per_page: LIMIT, ...(typeof cursor === "string" && { page: cursor }) };
    const path = `/api/v4/${ownerOf(String(options.project))}/hooks/${options.hook}/events`;
    return get(addressOf(options, "https://gitlab.com", path, query), bearer(secrets));
  },
  read({ since, until, cursor: _, ...response }) {
    const events = recordsOf(jsonOf(response), "events");
    const { within, isPast } = inRange(events, ({ created_at }) => created_at, { since, until });
    const cursor = nextInLink(response, "page");
    const found = itemsOf(within);
    return cursor === undefined || isPast ? found : { ...found, cursor };
  },
});

/** GitLab lets no project be called `groups`. */
function ownerOf(path: string): string {
  const [, group] = /^groups\/(.+)$/.exec(path) ?? [];
  return group === undefined ? `projects/${encodeURIComponent(path)}` : `groups/${encodeURIComponent(group)}`;
}

function itemsOf(events: readonly Record<string, unknown>[]): ReadPage {
  const items: unknown[] = [];
  const references: ItemReference[] = [];
  for (const { id, request_headers, request_data } of events) {
    const { "X-Gitlab-Token": _, ...headers } = (request_headers ?? {}) as Record<string, unknown>;
    const own = String(fieldOf(request_headers, "X-Gitlab-Event-UUID") ?? id);
    if (fieldOf(request_data, "oversize") === true) references.push({ id: own, fault: OVERSIZE });
    else items.push({ id: own, headers, body: request_data ?? {} });
  }
  return { items, references };
}
