/** Events as the REST API gives them: for people as lines, for scripts in their own text, which parsing would change. */

import { joinMembers, jsonMembers, scanJson } from "@inlet/protocol";
import { visible } from "../command-line/write-table.ts";

export interface EventFields {
  id: string;
  name: string;
  receivedAt: string;
  environment: string;
  dedupId?: string;
  ts: number;
  duplicates: number;
  source: { kind: string; id: string; name: string };
  runs?: { id: string; status: string; function: { id: string; name: string } }[];
}

/** The texts of the items of a list's answer, each on one line. */
export function itemTexts(answer: string): string[] {
  const data = memberText(answer, "data");
  const scanned = scanJson(data);
  if (!scanned || !("elements" in scanned)) throw new TypeError("the answer has no list");
  return scanned.elements.map((members) => joinMembers(data, members ?? []));
}

/** The text of a member of an object, as it is written. */
export function memberText(object: string, key: string): string {
  const member = jsonMembers(object).findLast((candidate) => candidate.key === key);
  if (!member) throw new TypeError(`there is no ${key}`);
  return object.slice(member.start, member.end);
}

/** NDJSON has a line per value; line breaks stand between tokens only, so they can go. */
export function onOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, " ");
}

export function eventLine(text: string): string {
  const { receivedAt, name, id } = JSON.parse(text) as EventFields;
  return `${clockTime(receivedAt)}  ${id}  ${visible(name)}  ${onOneLine(memberText(text, "data"))}`;
}

/** The time of day is enough for what happens now. */
function clockTime(iso: string): string {
  return iso.slice(11, 23);
}
