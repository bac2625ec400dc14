/**
 * Seeds of Event IDs: `<unix ms>,<base64 of 10 bytes>`. The service derives the ids of a request from its seed and ignores
 * ids that exist, so sending the same seed again stores nothing twice.
 */

import { sha1 } from "../wire/sha1.ts";

const ENTROPY_BYTES = 10;
const ULID_TIME = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** For one send and its retries. */
export function randomSeed(): string {
  return seed(Date.now(), crypto.getRandomValues(new Uint8Array(ENTROPY_BYTES)));
}

/** For a send inside a step: the same in every attempt of that step, and different from every other step. */
export function stepSeed(runId: string, hashedStepId: string, fallbackMs: number): string {
  return seed(ulidTimeMs(runId) ?? fallbackMs, sha1(`${runId}:${hashedStepId}`).subarray(0, ENTROPY_BYTES));
}

function seed(timeMs: number, entropy: Uint8Array): string {
  return `${Math.max(0, Math.floor(timeMs))},${btoa(String.fromCharCode(...entropy))}`;
}

/** The time in a ULID, so that ids derived for a run sort near it. */
function ulidTimeMs(id: string): number | null {
  if (!ULID_TIME.test(id)) return null;
  return [...id.slice(0, 10)].reduce((ms, char) => ms * 32 + ALPHABET.indexOf(char), 0);
}
