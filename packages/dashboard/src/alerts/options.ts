/** What the fields of an alert rule offer. */

import type { Option } from "../ui/fields.tsx";
import { spanText } from "./alert-words.ts";

/** A chosen one that exists no longer is offered by its id. */
export function namedOptions(all: readonly { id: string; name: string }[], chosen: string | null): Option[] {
  const isGone = chosen && !all.some(({ id }) => id === chosen);
  return [...(isGone ? [{ value: chosen, text: chosen }] : []), ...all.map(({ id, name }) => ({ value: id, text: name }))];
}

/** Spans of time, shortest first, each once. */
export function spanOptions(seconds: readonly number[]): Option[] {
  return [...new Set(seconds)].sort((a, b) => a - b).map((span) => ({ value: String(span), text: spanText(span) }));
}
