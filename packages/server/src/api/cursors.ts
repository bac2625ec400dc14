/** Cursors of lists ordered by the time received, in the form that clients receive. */

import type { EventCursor } from "../store/contract/index.ts";
import { invalid, type RestRefusal } from "./rest-errors.ts";

export function writeCursor({ receivedAt, sequence }: EventCursor): string {
  return `${receivedAt.toString(36)}-${sequence.toString(36)}`;
}

export function readCursor(text: string): EventCursor {
  const match = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})$/.exec(text);
  if (!match?.[1] || !match[2]) throw wrongCursor();
  return { receivedAt: Number.parseInt(match[1], 36), sequence: Number.parseInt(match[2], 36) };
}

export function wrongCursor(): RestRefusal {
  return invalid("cursor", "is not a cursor of this list: use page.next of its previous page");
}
