/**
 * Trello: the actions on a board or another model, newest first, each with the model as it is now, as a webhook delivers them. Actions that
 * Trello keeps out of lists are not among them. https://developer.atlassian.com/cloud/trello/guides/rest-api/action-types/
 */

import { addressOf, get, isOfType, jsonOf, objectOf, type Preset, type PresetOptions, recordsOf } from "./preset.ts";

interface Cursor {
  model: unknown;
  before?: string;
}

const LIMIT = 200;
/** What a webhook tells of a board. */
const BOARD_FIELDS = "name,desc,descData,closed,idOrganization,pinned,url,shortUrl,prefs,labelNames";

export const trello: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const headers = authorized(String(options.appKey), secrets);
    const place = cursor as Cursor | undefined;
    const path = `/1/${options.model}`;
    if (!place) return get(addressOf(options, ORIGIN, path, path.startsWith("/1/boards/") ? { fields: BOARD_FIELDS } : {}), headers);
    const range = { since, before: place.before ?? until };
    return get(addressOf(options, ORIGIN, `${path}/actions`, { limit: String(LIMIT), filter: filterOf(options), ...range }), headers);
  },
  read({ cursor, ...response }) {
    const place = cursor as Cursor | undefined;
    if (!place) return { items: [], cursor: { model: objectOf(response) } };
    const { model } = place;
    const actions = recordsOf(jsonOf(response), "actions");
    const items = actions.filter(({ type }) => isOfType(options, type)).map((action) => ({ id: action.id, body: { model, action } }));
    const last = actions.at(-1)?.id;
    return actions.length < LIMIT || typeof last !== "string" ? { items } : { items, cursor: { model, before: last } };
  },
});

const ORIGIN = "https://api.trello.com";

function filterOf({ events }: PresetOptions): string {
  return Array.isArray(events) ? events.join(",") : "all";
}

function authorized(key: string, secrets: readonly string[]): Record<string, string> {
  const authorization = `OAuth oauth_consumer_key="${key}", oauth_token="${secrets[0] ?? ""}"`;
  return { authorization, accept: "application/json", "user-agent": "inlet" };
}
