/**
 * Event IDs: ULIDs, 48 bits of time then 80 bits of randomness, written in Crockford base 32.
 * The ids of one generator always increase, even within a millisecond and when the clock is set back.
 */

import type { EventId } from "./ids.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const EVENT_ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Of the time; the others are random. */
export const ID_TIME_LETTERS = 10;
const TWO_POW_40 = 2 ** 40;
const TWO_POW_20 = 2 ** 20;
const TIME_MS_MAX = 2 ** 48 - 1;

/** Two characters for each 10-bit value: an id consists of thirteen lookups. */
const PAIRS = Array.from({ length: 1024 }, (_, value) => `${ALPHABET[value >> 5]}${ALPHABET[value & 31]}`);

export interface EventIdGenerator {
  next(nowMs: number): EventId;
}

export function isEventId(text: string): text is EventId {
  return EVENT_ID.test(text);
}

/** Random bytes are generated for many ids at once, which is cheaper. */
const POOL_BYTES = 4_000;
const ENTROPY_BYTES = 10;

export function createEventIdGenerator(
  random: (bytes: Uint8Array<ArrayBuffer>) => unknown = (bytes) => crypto.getRandomValues(bytes),
): EventIdGenerator {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = -1;
  let time = "";
  let high = 0;
  let low = 0;

  function renew(ms: number): void {
    lastMs = ms;
    time = encodeTime(ms);
    if (used === POOL_BYTES) {
      random(pool);
      used = 0;
    }
    // The top bit stays clear, so that counting up within a millisecond never overflows.
    high = readUint40(pool, used) % (TWO_POW_40 / 2);
    low = readUint40(pool, used + 5);
    used += ENTROPY_BYTES;
  }

  return {
    next(nowMs) {
      if (nowMs > lastMs) renew(nowMs);
      else if (++low === TWO_POW_40) {
        low = 0;
        high++;
      }
      return (time + encode40(high) + encode40(low)) as EventId;
    },
  };
}

/** The lowest id of this millisecond: earlier ids are lower, ids generated at this time or later are not. */
export function firstIdAt(ms: number): string {
  return encodeTime(Math.min(Math.max(ms, 0), TIME_MS_MAX)).padEnd(26, "0");
}

/** Milliseconds: the time that the id begins with. */
export function eventIdTime(id: string): number {
  return Number(decode(id.slice(0, ID_TIME_LETTERS)));
}

/** A seed that the sender set with a header, so that a retried send yields the ids of the first attempt. */
export interface EventIdSeed {
  timeMs: number;
  entropy: Uint8Array;
}

/** Reads `<unix ms>,<base64 of 10 bytes>`; null for anything else, which callers treat as no seed. */
export function parseEventIdSeed(header: string): EventIdSeed | null {
  const match = /^(\d{1,15}),([A-Za-z0-9+/_-]{14}={0,2})$/.exec(header.trim());
  if (!match?.[1] || !match[2]) return null;
  const timeMs = Number(match[1]);
  if (timeMs > TIME_MS_MAX) return null;
  const entropy = Uint8Array.from(atob(match[2].replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "")), (c) => c.charCodeAt(0));
  return entropy.length === ENTROPY_BYTES ? { timeMs, entropy } : null;
}

/** The id of the event at `position` (1 for the first) of a seeded request: the position is added to the last four bytes. */
export function seededEventId(seed: EventIdSeed, position: number): EventId {
  const entropy = seed.entropy.slice();
  const view = new DataView(entropy.buffer);
  view.setUint32(6, (view.getUint32(6) + position) >>> 0);
  return (encodeTime(seed.timeMs) + encode40(readUint40(entropy, 0)) + encode40(readUint40(entropy, 5))) as EventId;
}

/** The header of a request whose first event gets this id: the opposite of seededEventId. */
export function seedHeaderOf(id: string): string {
  const value = decode(id.slice(ID_TIME_LETTERS));
  const entropy = Uint8Array.from({ length: ENTROPY_BYTES }, (_, index) =>
    Number((value >> BigInt(8 * (ENTROPY_BYTES - 1 - index))) & 0xffn),
  );
  const view = new DataView(entropy.buffer);
  view.setUint32(6, (view.getUint32(6) - 1) >>> 0);
  return `${eventIdTime(id)},${btoa(String.fromCharCode(...entropy))}`;
}

/** A letter that no id has counts as 0. */
function decode(letters: string): bigint {
  return [...letters].reduce((sum, letter) => sum * 32n + BigInt(Math.max(0, ALPHABET.indexOf(letter))), 0n);
}

/** 48 bits in ten characters: the top two bits of the first character are unused. */
function encodeTime(ms: number): string {
  const high = Math.floor(ms / TWO_POW_40);
  return (PAIRS[high] as string) + encode40(ms % TWO_POW_40);
}

function encode40(value: number): string {
  const high = Math.floor(value / TWO_POW_20);
  const low = value % TWO_POW_20;
  return (PAIRS[high >> 10] as string) + PAIRS[high & 1023] + PAIRS[low >> 10] + PAIRS[low & 1023];
}

function readUint40(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 5; i++) value = value * 256 + (bytes[i] as number);
  return value;
}
