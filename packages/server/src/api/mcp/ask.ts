/** Asking the REST API for what an explanation is made of. */

import { beginning } from "./cut-response.ts";
import type { Ask, Json, ToolResponse } from "./tool.ts";

export class RefusedResponse extends Error {
  readonly response: ToolResponse;
  readonly status: number;

  constructor(response: ToolResponse) {
    super(response.text);
    this.response = response;
    this.status = (JSON.parse(response.text) as { status: number }).status;
  }
}

/** Null if there is no response for this caller: the object is gone, or its role does not show it. */
export async function askOptional<Body = { data: Json }>(ask: Ask, path: string): Promise<Body | null> {
  try {
    return await ask<Body>(path);
  } catch (error) {
    if (error instanceof RefusedResponse && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

/** The object, with the beginnings of fields that are longer than this. */
export function brief<Item extends object>(item: Item, unitsMax: number): Item {
  const fields = Object.entries(item).map(([name, value]) => [name, value, JSON.stringify(value) ?? "null"] as const);
  if (fields.every(([, , text]) => text.length <= unitsMax)) return item;
  const short = fields.map(([name, value, text]) => [name, text.length <= unitsMax ? value : beginning(text, unitsMax)]);
  return { ...(Object.fromEntries(short) as Item), truncated: true };
}
