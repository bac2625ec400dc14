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

/** `extras` is JSON text of an object with the fields of an event other than name, data, id and ts, or null. */
export function settleSessions(extras: string | null): string | null {
  if (extras === null || !extras.includes('"meta"')) return extras;
  const members = jsonMembers(extras);
  const member = members.findLast(({ key }) => key === "meta");
  if (!member || extras[member.start] !== "{") return extras;
  const { propagated_sessions, ...meta } = JSON.parse(extras.slice(member.start, member.end)) as Meta;
  const { sessions = {} } = meta;
  if (propagated_sessions === undefined && sessions !== null && !Object.values(sessions).includes(null)) return extras;
  const settled = JSON.stringify({ ...meta, sessions: merged(meta.sessions, propagated_sessions) });
  const others = joinMembers(
    extras,
    members.filter(({ key }) => key !== "meta"),
  );
  return `${others === "{}" ? "{" : `${others.slice(0, -1)},`}"meta":${settled}}`;
}

function merged(own: Meta["sessions"], handedOn: Meta["propagated_sessions"]): Record<string, string> {
  const all = { ...(own === null ? {} : handedOn), ...own };
  const kept = Object.entries(all).filter(([, id]) => typeof id === "string" || typeof id === "number");
  const sorted = kept.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  return Object.fromEntries(sorted.slice(0, SESSIONS_MAX).map(([key, id]) => [key, String(id)]));
}
