/** Events from the REST API: as readable lines, or as their original JSON text, which parsing would change. */

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

/** The JSON texts of the items of a list, each on one line. */
export function itemTexts(answer: string): string[] {
  const data = memberText(answer, "data");
  const scanned = scanJson(data);
  if (!scanned || !("elements" in scanned)) throw new TypeError("the response has no list");
  return scanned.elements.map((members) => joinMembers(data, members ?? []));
}

/** The JSON text of a member of an object. */
export function memberText(object: string, key: string): string {
  const member = jsonMembers(object).findLast((candidate) => candidate.key === key);
  if (!member) throw new TypeError(`there is no ${key}`);
  return object.slice(member.start, member.end);
}

/** NDJSON has one value per line. Line breaks occur only between tokens, so they can be removed. */
export function onOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, " ");
}

export function eventLine(text: string): string {
  const { receivedAt, name, id } = JSON.parse(text) as EventFields;
  return `${clockTime(receivedAt)}  ${id}  ${visible(name)}  ${onOneLine(memberText(text, "data"))}`;
}

/** Live output needs only the time of day. */
function clockTime(iso: string): string {
  return iso.slice(11, 23);
}
