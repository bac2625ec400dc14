/** Asking the REST API for what an explanation is made of. */

import { beginning } from "./cut-answer.ts";
import type { Ask, Json, ToolAnswer } from "./tool.ts";

export class RefusedAnswer extends Error {
  readonly answer: ToolAnswer;
  readonly status: number;

  constructor(answer: ToolAnswer) {
    super(answer.text);
    this.answer = answer;
    this.status = (JSON.parse(answer.text) as { status: number }).status;
  }
}

/** Null if there is no answer for this caller: the object is gone, or its role does not show it. */
export async function askOptional<Body = { data: Json }>(ask: Ask, path: string): Promise<Body | null> {
  try {
    return await ask<Body>(path);
  } catch (error) {
    if (error instanceof RefusedAnswer && [403, 404].includes(error.status)) return null;
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
