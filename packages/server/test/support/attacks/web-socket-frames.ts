/** Frames of WebSocket: valid ones with any JSON in them, nearly valid ones, and bytes that are none. */

import type { Random } from "./attack-plan.ts";

const TEXT = 1;
const OPCODES = [TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, 0, 2, 3, 8, 9, 10, 15];
const KINDS: readonly unknown[] = ["sub", "unsub", "unsub", "unsub", "ping", "", null, 1, ["unsub"], { toString: 1 }];
const FIELDS = ["channel", "name", "kind", "data", "topic", "length", "toString", "valueOf", "constructor", "__proto__", "then", "toJSON"];
const SCALARS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  0.1,
  "",
  "a",
  "user:1",
  "status",
  "\u0000",
  "\ud800",
  "x".repeat(600),
];
/** The largest frame that is read has 65,536 bytes. */
const DEPTHS = [10, 1_000, 30_000, 70_000];

/** What ended the process once, and what is next to it. Sent before anything random. */
export const KNOWN_FRAMES: readonly string[] = [
  '{"kind":"unsub","data":[null]}',
  '{"kind":"unsub","data":[{"channel":{"toString":1,"valueOf":1}}]}',
  '{"kind":"unsub","data":[{"channel":"a","name":{"toString":1,"valueOf":1}}]}',
  '{"kind":"unsub","data":[1,"a",[],true]}',
  '{"kind":"sub","data":{"toString":1}}',
  '{"kind":{"toString":1},"data":[]}',
  "null",
  "7",
  '"unsub"',
  "[]",
  "",
  `{"kind":"unsub","data":${"[".repeat(30_000)}${"]".repeat(30_000)}}`,
];

export function frameOf(random: Random): Buffer {
  const opcode = random.pick(OPCODES);
  const payload = opcode === TEXT && random.below(8) > 0 ? Buffer.from(frameText(random)) : bytes(random, random.below(200));
  const frame = encodeFrame(payload, { opcode, random });
  return random.below(10) === 0 ? mutated(random, frame) : frame;
}

function frameText(random: Random): string {
  if (random.below(12) === 0) return deep(random);
  const frame = { kind: random.pick(KINDS), data: random.below(3) === 0 ? anyValue(random, 3) : [topic(random), topic(random)] };
  const text = JSON.stringify(random.below(10) === 0 ? anyValue(random, 4) : frame);
  return random.below(12) === 0 ? text.slice(0, random.below(text.length + 1)) : text;
}

function topic(random: Random): unknown {
  return random.below(2) === 0 ? anyValue(random, 2) : { channel: anyValue(random, 1), name: anyValue(random, 1) };
}

function anyValue(random: Random, depth: number): unknown {
  if (depth === 0 || random.below(3) === 0) return random.pick(SCALARS);
  const items = Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1));
  if (random.below(2) === 0) return items;
  return Object.fromEntries(items.map((item) => [random.pick(FIELDS), item]));
}

function deep(random: Random): string {
  const depth = random.pick(DEPTHS);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"data":', "}"],
  ] as const);
  const units = Math.floor((depth * 2) / (open.length + close.length));
  return `{"kind":"unsub","data":${open.repeat(units)}1${random.below(2) === 0 ? close.repeat(units) : ""}}`;
}

/** As a client sends it, masked. With `random`, some lack the mask, are no final frame, or have reserved bits. */
export function encodeFrame(payload: Buffer, { opcode = TEXT, random }: { opcode?: number; random?: Random } = {}): Buffer {
  const isRare = () => random !== undefined && random.below(20) === 0;
  const first = (isRare() ? 0 : 0x80) | (isRare() ? 0x70 : 0) | opcode;
  const isMasked = !isRare();
  const mask = Buffer.from([1, 2, 3, 4]);
  const body = isMasked ? Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] as number))) : payload;
  return Buffer.concat([Buffer.from([first]), lengthOf(payload.length, isMasked), isMasked ? mask : Buffer.alloc(0), body]);
}

function lengthOf(length: number, isMasked: boolean): Buffer {
  const bit = isMasked ? 0x80 : 0;
  if (length < 126) return Buffer.from([bit | length]);
  const head = Buffer.alloc(length < 65_536 ? 3 : 9);
  head[0] = bit | (length < 65_536 ? 126 : 127);
  if (length < 65_536) head.writeUInt16BE(length, 1);
  else head.writeBigUInt64BE(BigInt(length), 1);
  return head;
}

function bytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

function mutated(random: Random, frame: Buffer): Buffer {
  const copy = Buffer.from(frame);
  copy[random.below(Math.min(copy.length, 16))] = random.below(256);
  return random.below(2) === 0 ? copy : copy.subarray(0, random.below(copy.length));
}
