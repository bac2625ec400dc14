/**
 * Keeps a response within what a model reads at once. A list ends after whole items, with a cursor to go on. A single object that is too
 * large keeps its short fields and the beginnings of the others, with `truncated`, and a cursor that gives its whole JSON text piece by piece.
 *
 * What fits is the text of the route, untouched.
 */

import { invalid, type RestRefusal } from "../rest-errors.ts";
import type { Arguments, Json, ToolResponse, ToolRoute } from "./tool.ts";

export const RESPONSE_UNITS_MAX = 20_000;
/** Room for what surrounds items: `data`, `page` and a cursor. */
const ITEMS_UNITS_MAX = RESPONSE_UNITS_MAX - 600;
/** Fields up to this length are kept whole in an object that is cut. */
const SHORT_FIELD_UNITS = 500;
const PIECE_UNITS = 8_000;

export type Send = (args: Arguments) => Promise<ToolResponse>;

/** Asks a route that reads, as often as it takes to get a whole number of items. */
export async function sendCut(route: Pick<ToolRoute, "isPaged">, args: Arguments, send: Send): Promise<ToolResponse> {
  if (route.isPaged) return cutPage(args, send);
  const { cursor, ...rest } = args;
  const response = await send(rest);
  if (response.isError) return cutError(response);
  return cutWhole(response, typeof cursor === "string" ? cursor : null);
}

function wrongCursor(): RestRefusal {
  return invalid("cursor", "is not a cursor of this tool: use page.next of its previous response");
}

/** A response without a cursor of its own. */
export function cutWhole(response: ToolResponse, cursor: string | null): ToolResponse {
  if (cursor === null && response.text.length <= RESPONSE_UNITS_MAX) return response;
  const { data } = JSON.parse(response.text) as { data: unknown };
  if (Array.isArray(data)) return cutList(data, cursor);
  const [, from] = cursor === null ? [] : (/^json:(\d{1,9})$/.exec(cursor) ?? []);
  if (from !== undefined) return piece(data as Json, Number(from));
  if (cursor !== null) throw wrongCursor();
  return answerOf({ data: shortened(data as Json), page: { next: "json:0" } });
}

/** The same request with a smaller limit: its cursor is the one of the route. */
async function cutPage(args: Arguments, send: Send): Promise<ToolResponse> {
  let response = await send(args);
  let count = Number.POSITIVE_INFINITY;
  while (!response.isError && response.text.length > RESPONSE_UNITS_MAX) {
    const { data, page } = JSON.parse(response.text) as { data: Json[]; page: object };
    const [only] = data;
    if (data.length === 1 && only) return answerOf({ data: [shortened(only)], page });
    // Items that were added since make the same number of items longer, so the number falls with each turn.
    count = Math.max(1, Math.min(fittingCount(data), count - 1, data.length - 1));
    response = await send({ ...args, limit: count });
  }
  return response.isError ? cutError(response) : response;
}

function cutList(data: readonly unknown[], cursor: string | null): ToolResponse {
  const [, from] = cursor === null ? [null, "0"] : (/^item:(\d{1,9})$/.exec(cursor) ?? []);
  if (from === undefined) throw wrongCursor();
  const rest = data.slice(Number(from));
  const count = fittingCount(rest);
  const items = count === 0 && rest.length > 0 ? [shortened(rest[0] as Json)] : rest.slice(0, count);
  const end = Number(from) + items.length;
  return answerOf({ data: items, page: { next: end < data.length ? `item:${end}` : null } });
}

/** How many of the first items fit. */
function fittingCount(items: readonly unknown[]): number {
  let units = 0;
  const beyond = items.findIndex((item) => {
    units += JSON.stringify(item).length + 1;
    return units > ITEMS_UNITS_MAX;
  });
  return beyond === -1 ? items.length : beyond;
}

function shortened(item: Json): Json {
  const fields = Object.entries(item).map(([name, value]) => ({ name, value, text: JSON.stringify(value) }));
  const kept: Json = {};
  let units = ITEMS_UNITS_MAX / 4;
  for (const { name, value, text } of fields) {
    units -= name.length + text.length + 4;
    if (name !== "id" && (text.length > SHORT_FIELD_UNITS || units < 0)) continue;
    kept[name] = value;
  }
  const long = fields.filter(({ name, text }) => !(name in kept) && text.length > SHORT_FIELD_UNITS).slice(0, 20);
  const share = Math.floor(ITEMS_UNITS_MAX / 2 / Math.max(1, long.length));
  for (const { name, text } of long) kept[name] = beginning(text, share);
  return { ...kept, truncated: true };
}

/** The beginning of a text whose JSON has at most this length. */
export function beginning(text: string, unitsMax: number): string {
  let start = text.slice(0, unitsMax);
  for (let units = JSON.stringify(start).length; units > unitsMax; units = JSON.stringify(start).length)
    start = start.slice(0, Math.floor((start.length * unitsMax) / units) - 1);
  return start;
}

function piece(data: Json, from: number): ToolResponse {
  const text = JSON.stringify(data);
  const json = beginning(text.slice(from, from + PIECE_UNITS), ITEMS_UNITS_MAX - 1_000);
  const end = from + json.length;
  const { id } = data;
  return answerOf({
    data: { ...(id !== undefined && { id }), truncated: true, json },
    page: { next: end < text.length ? `json:${end}` : null },
  });
}

/** An error lists up to a hundred faults, and quotes what was given. */
export function cutError(response: ToolResponse): ToolResponse {
  if (response.text.length <= RESPONSE_UNITS_MAX) return response;
  const { error, code, status, docs } = JSON.parse(response.text) as Record<string, string>;
  return { isError: true, text: JSON.stringify({ error: beginning(error ?? "", ITEMS_UNITS_MAX / 2), code, status, docs }) };
}

function answerOf(value: object): ToolResponse {
  return { isError: false, text: JSON.stringify(value) };
}
