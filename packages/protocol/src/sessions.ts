/**
 * Sessions group runs. An event has them in `meta`: those that its sender names (`sessions`), and those that an SDK propagates from the run
 * that sends it (`propagated_sessions`). Functions receive one map: the sender's own take precedence; null removes a session, and null instead
 * of the map removes all propagated ones.
 */

import { joinMembers, jsonMembers } from "./json-scan.ts";

const SESSIONS_MAX = 5;

interface Meta {
  sessions?: Readonly<Record<string, unknown>> | null;
  propagated_sessions?: Readonly<Record<string, unknown>> | null;
}

/** `extras` is JSON text of an object with the fields of an event other than name, data, id and ts, or null. Other fields stay as written. */
export function settleSessions(extras: string | null): string | null {
  if (extras === null || !extras.includes('"meta"')) return extras;
  const members = jsonMembers(extras);
  const member = members.findLast(({ key }) => key === "meta");
  if (!member || extras[member.start] !== "{") return extras;
  const meta = extras.slice(member.start, member.end);
  const { sessions, propagated_sessions } = JSON.parse(meta) as Meta;
  if (propagated_sessions === undefined && sessions !== null && !Object.values(sessions ?? {}).includes(null)) return extras;
  const settled = withMember(meta, "sessions", JSON.stringify(merged(sessions, propagated_sessions)), ["propagated_sessions"]);
  return withMember(extras, "meta", settled);
}

/** The text of an object with this member last, and without members of these names. */
function withMember(text: string, name: string, value: string, leftOut: readonly string[] = []): string {
  const others = joinMembers(
    text,
    jsonMembers(text).filter(({ key }) => key !== name && !leftOut.includes(key)),
  );
  return `${others === "{}" ? "{" : `${others.slice(0, -1)},`}${JSON.stringify(name)}:${value}}`;
}

function merged(own: Meta["sessions"], handedOn: Meta["propagated_sessions"]): Record<string, string> {
  const all = { ...(own === null ? {} : handedOn), ...own };
  const kept = Object.entries(all).filter(([, id]) => typeof id === "string" || typeof id === "number");
  const sorted = kept.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  return Object.fromEntries(sorted.slice(0, SESSIONS_MAX).map(([key, id]) => [key, String(id)]));
}
