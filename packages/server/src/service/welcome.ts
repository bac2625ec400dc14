/** The output of a first start: the new keys, once, commands to paste, and a login link. */

import type { NewKey } from "./bootstrap.ts";

export function welcome(newKeys: readonly NewKey[], url: string): string {
  if (newKeys.length === 0) return "";
  const rows = newKeys.map((key) => `  ${labelOf(key).padEnd(28)}${key.text}`);
  const production = newKeys.find((key) => key.kind === "event" && key.environment !== "branch");
  const api = newKeys.find((key) => key.kind === "api");
  return [
    "",
    "These keys are shown only now. Keep them where you keep secrets:",
    "",
    ...rows,
    ...(production ? ["", "Send a first event:", "", `  ${curlSend(url, production.text)}`] : []),
    ...(api ? ["", "See it:", "", `  curl ${reachable(url)}/v1/events -H 'Authorization: Bearer ${api.text}'`] : []),
    "",
  ].join("\n");
}

/** The token is after the #, which browsers do not send to servers. */
export function loginLink(url: string, token: string): string {
  return ["Sign in to the dashboard, once, within 15 minutes:", "", `  ${reachable(url)}/login#token=${token}`, ""].join("\n");
}

export function curlSend(url: string, key: string): string {
  return `curl ${reachable(url)}/e/${encodeURIComponent(key)} -H 'Content-Type: application/json' -d '{"name":"hello/world","data":{"n":1}}'`;
}

function labelOf({ kind, environment }: NewKey): string {
  if (kind === "api") return "API key (admin)";
  return `${kind} key (${environment === "branch" ? "all branches" : environment})`;
}

/** An address that means "every interface" cannot be connected to. */
function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:");
}
