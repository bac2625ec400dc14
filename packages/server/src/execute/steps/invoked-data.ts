/** The `data` of an event that starts a function directly: the caller's own members as written, and `_inngest`, which says from where. */

import { joinMembers, jsonMembers } from "@inlet/protocol";

/** `data` is JSON; what is not an object is left out. `origin` is the JSON of `_inngest`. */
export function invokedData(data: string | null, origin: string): string {
  if (!data?.startsWith("{")) return `{"_inngest":${origin}}`;
  const members = jsonMembers(data).filter(({ key }) => key !== "_inngest");
  return members.length === 0 ? `{"_inngest":${origin}}` : `${joinMembers(data, members).slice(0, -1)},"_inngest":${origin}}`;
}
