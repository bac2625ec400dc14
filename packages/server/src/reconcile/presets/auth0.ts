/**
 * Auth0: the log events, each as a stream with the content format JSON Object sends it. The first is found by its time, the others follow it.
 * https://auth0.com/docs/logs/retrieve-log-events-using-mgmt-api
 */

import {
  addressOf,
  bearer,
  clientCredentials,
  get,
  inRange,
  isOfType,
  jsonOf,
  type Preset,
  type PresetOptions,
  recordsOf,
} from "./preset.ts";

const LIMIT = 100;

export const auth0: Preset = (options) => ({
  signIn: clientCredentials((secrets) => ({
    method: "POST",
    url: addressOf(options, originOf(options), "/oauth/token"),
    headers: { accept: "application/json", "content-type": "application/json", "user-agent": "inlet" },
    body: JSON.stringify({
      grant_type: "client_credentials",
      client_id: options.clientId,
      client_secret: secrets[0] ?? "",
      audience: `${originOf(options)}/api/v2/`,
    }),
  })),
  request({ since, until, cursor, secrets }) {
    const first = { q: `date:[${since} TO ${until}]`, sort: "date:1", per_page: "1", page: "0" };
    const query = typeof cursor === "string" ? { from: cursor, take: String(LIMIT) } : first;
    return get(addressOf(options, originOf(options), "/api/v2/logs", query), bearer(secrets));
  },
  read({ since, until, cursor, ...response }) {
    const logs = recordsOf(jsonOf(response), "logs");
    const { within } = inRange(logs, ({ date }) => date, { since, until });
    const items = within
      .filter(({ type }) => isOfType(options, type))
      .map((log) => ({ id: log.log_id, body: { log_id: log.log_id, data: log } }));
    const last = logs.at(-1);
    const isLast = (cursor !== undefined && logs.length < LIMIT) || Date.parse(String(last?.date)) > Date.parse(until);
    return isLast || typeof last?.log_id !== "string" ? { items } : { items, cursor: last.log_id };
  },
});

function originOf({ domain }: PresetOptions): string {
  return `https://${domain}`;
}
