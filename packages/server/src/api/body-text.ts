/** The text of request bodies, for values that have to stay as they were written: parsed numbers lose digits beyond double precision. */

import { jsonMembers } from "@inlet/protocol";

const texts = new WeakMap<object, string>();

/** `value` is what was parsed from the text. */
export function keepBodyText(value: unknown, text: string): void {
  if (typeof value === "object" && value !== null) texts.set(value, text);
}

/** The text that the body was parsed from; null if it was not kept. */
export function bodyText(body: unknown): string | null {
  return typeof body === "object" && body !== null ? (texts.get(body) ?? null) : null;
}

/** A member of a body, as it was written; null if it is absent. Of several with this name the last counts, as for a parser. */
export function memberText(body: object, key: string): string | null {
  const text = texts.get(body);
  if (text === undefined) throw new Error("the text of this body was not kept");
  const member = jsonMembers(text).findLast((candidate) => candidate.key === key);
  return member ? text.slice(member.start, member.end) : null;
}
