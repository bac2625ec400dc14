/** How people send events: with the newest event key, some of them with the one before until they are told that it was revoked. */

import type { KeyNote } from "../journal-notes.ts";
import { now, pass } from "../virtual-time.ts";
import { type DeedParts, RESEND_MS } from "./doing.ts";

const JSON_TYPE = { "content-type": "application/json" };
/** One in so many senders is slow to learn of a new key. */
const SLOW_SENDERS = 4;

export interface Offer {
  /** Of the first event. */
  n: number;
  body: string;
  headers?: Record<string, string>;
}

/** Null: what became of it is not known. */
export type Offered = { status: number; text: string } | null;

/** Once. A key that was revoked is refused, and one that works is not. */
export async function offer(
  { ask, journal }: Pick<DeedParts, "ask" | "journal">,
  { n, body, headers = {} }: Offer,
  keys = keysFor(journal.keys, n),
): Promise<Offered> {
  const [key, ...others] = keys;
  if (!key) throw new Error("there is no event key");
  const sentAt = now();
  const answer = await ask(`/e/${key.text}`, { headers: { ...JSON_TYPE, ...headers }, body }).catch(() => null);
  if (!answer) return null;
  const text = await answer.text();
  if (answer.status !== 401) {
    if (answer.status === 200 && sentAt > key.revokedAt + journal.tellingMs) journal.fault(`event ${n} was accepted with a revoked key`);
    return { status: answer.status, text };
  }
  if (now() < key.revokeAskedAt) journal.fault(`event ${n} was refused with a key that works: ${text}`);
  return others.length > 0 ? offer({ ask, journal }, { n, body, headers }, others) : null;
}

/** Until it is accepted. */
export async function offerUntilTaken(parts: DeedParts, sent: Offer): Promise<{ ids: string[] }> {
  for (;;) {
    const answer = await offer(parts, sent);
    if (answer?.status === 200) return JSON.parse(answer.text) as { ids: string[] };
    if (answer && !isPassing(parts, answer.status)) parts.journal.fault(`event ${sent.n} was refused: ${answer.text}`);
    await pass(RESEND_MS);
  }
}

/** It is worth trying again. */
export function isPassing({ scenario }: DeedParts, status: number): boolean {
  if (status === 429) return (scenario.quotas ?? []).length > 0;
  return status === 503 || (status === 404 && (scenario.archives ?? []).length > 0);
}

function keysFor(keys: readonly KeyNote[], n: number): KeyNote[] {
  const newestFirst = keys.toReversed();
  return n % SLOW_SENDERS === 0 ? newestFirst.slice(0, 2).reverse() : newestFirst.slice(0, 1);
}
