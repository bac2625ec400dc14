/**
 * Rewrites the functions of a WebAssembly module so that they note which 4-KiB pages of memory they write: before every instruction
 * that stores something, the byte of its page in a second memory is set to 1. No code of the module can reach that memory in any other
 * way, so what was written is known whatever goes wrong inside.
 *
 * A store that begins at the end of a page may reach a few bytes into the next one; that page is not marked.
 */

import { concat, encodeNumber, encodeSigned, Reader } from "./wasm-binary.ts";

export const MARKED_PAGE_BYTES = 4_096;
/** How far a store can reach into a page that is not marked. */
export const OVERHANG_BYTES = 7;

const PAGE_SHIFT = 12;
const MARKS_MEMORY = 1;
/** Says that the number of a memory follows. */
const OTHER_MEMORY = 0x40;

const OP = {
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  localGet: 0x20,
  localSet: 0x21,
  firstStore: 0x36,
  i32Store8: 0x3a,
  i32Const: 0x41,
  i32LessUnsigned: 0x49,
  i32Add: 0x6a,
  i32And: 0x71,
  i32ShiftRightUnsigned: 0x76,
  bulk: 0xfc,
} as const;
const NO_RESULT = 0x40;

/** What follows an instruction: so many numbers, or something else. */
const FOLLOWED_BY = {
  nothing: 0,
  number: 1,
  twoNumbers: 2,
  list: 3,
  listAndNumber: 4,
  fourBytes: 5,
  eightBytes: 6,
  store: 7,
  bulk: 8,
} as const;
const UNKNOWN = 9;

/** All instructions the engine's compiler was allowed to use, by ranges of their numbers. */
const INSTRUCTIONS: readonly (readonly [from: number, to: number, followedBy: number])[] = [
  [0x00, 0x01, FOLLOWED_BY.nothing],
  [0x02, 0x04, FOLLOWED_BY.number],
  [0x05, 0x05, FOLLOWED_BY.nothing],
  [0x0b, 0x0b, FOLLOWED_BY.nothing],
  [0x0c, 0x0d, FOLLOWED_BY.number],
  [0x0e, 0x0e, FOLLOWED_BY.listAndNumber],
  [0x0f, 0x0f, FOLLOWED_BY.nothing],
  [0x10, 0x10, FOLLOWED_BY.number],
  [0x11, 0x11, FOLLOWED_BY.twoNumbers],
  [0x1a, 0x1b, FOLLOWED_BY.nothing],
  [0x1c, 0x1c, FOLLOWED_BY.list],
  [0x20, 0x26, FOLLOWED_BY.number],
  [0x28, 0x35, FOLLOWED_BY.twoNumbers],
  [0x36, 0x3e, FOLLOWED_BY.store],
  [0x3f, 0x42, FOLLOWED_BY.number],
  [0x43, 0x43, FOLLOWED_BY.fourBytes],
  [0x44, 0x44, FOLLOWED_BY.eightBytes],
  [0x45, 0xc4, FOLLOWED_BY.nothing],
  [0xd0, 0xd0, FOLLOWED_BY.number],
  [0xd1, 0xd1, FOLLOWED_BY.nothing],
  [0xd2, 0xd2, FOLLOWED_BY.number],
  [0xfc, 0xfc, FOLLOWED_BY.bulk],
];
const FOLLOWS = new Uint8Array(256).fill(UNKNOWN);
for (const [from, to, followedBy] of INSTRUCTIONS) FOLLOWS.fill(followedBy, from, to + 1);

/** How many numbers follow the bulk instructions, by their own number: conversions, memory, tables. */
const BULK_NUMBERS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];
const MEMORY_INIT = 8;
const MEMORY_COPY = 10;
const MEMORY_FILL = 11;

/** Variables added to each function that writes: numbers of each type, and which of them hold what. */
const OWN_VARIABLES: readonly (readonly [count: number, type: number])[] = [
  [3, 0x7f],
  [1, 0x7e],
  [1, 0x7d],
  [1, 0x7c],
];
const ADDRESS = 0;
const LENGTH = 1;
const I32 = 2;
const I64 = 3;
const F32 = 4;
const F64 = 5;
/** What each instruction stores, from i32.store to i64.store32. */
const STORED = [I32, I64, F32, F64, I32, I32, I64, I64, I64] as const;

/** Marks what was written from outside. */
export function markWritten(marks: Uint8Array, at: number, bytes: number): void {
  for (let page = at >>> PAGE_SHIFT; page <= (at + bytes) >>> PAGE_SHIFT; page++) marks[page] = 1;
}

/** How many parameters each function has, from the sections of types and functions. */
export function parameterCounts(types: Uint8Array, functions: Uint8Array): number[] {
  const ofTypes = list(types, (reader) => {
    reader.byte();
    const count = reader.take(reader.number()).length;
    reader.take(reader.number());
    return count;
  });
  return list(functions, (reader) => ofTypes[reader.number()] ?? 0);
}

/** The section of code, rewritten. */
export function markWrites(code: Uint8Array, parameters: readonly number[]): Uint8Array {
  const markings = new Map<number, Marking>();
  const markingFor = (variables: number) => {
    const marking = markings.get(variables) ?? new Marking(variables);
    markings.set(variables, marking);
    return marking;
  };
  const bodies = list(code, (reader) => reader.take(reader.number())).map((body, n) => rewrite(body, parameters[n] ?? 0, markingFor));
  return concat([encodeNumber(bodies.length), ...bodies.flatMap((body) => [encodeNumber(body.length), body])]);
}

function list<Item>(section: Uint8Array, read: (reader: Reader) => Item): Item[] {
  const reader = new Reader(section);
  return Array.from({ length: reader.number() }, () => read(reader));
}

function rewrite(body: Uint8Array, parameters: number, markingFor: (variables: number) => Marking): Uint8Array {
  const reader = new Reader(body);
  const groups = reader.number();
  const groupsAt = reader.at;
  let variables = parameters;
  for (let n = 0; n < groups; n++) {
    variables += reader.number();
    reader.byte();
  }
  const declared = body.subarray(groupsAt, reader.at);
  const instructions = rewriteInstructions(reader, body, markingFor(variables));
  if (instructions.length === 1) return body;
  const own = OWN_VARIABLES.flat();
  return concat([encodeNumber(groups + OWN_VARIABLES.length), declared, Uint8Array.from(own), ...instructions]);
}

/** What is copied as it is, and what is put in between. One part means that nothing is written. */
function rewriteInstructions(reader: Reader, body: Uint8Array, marking: Marking): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let copiedTo = reader.at;
  while (!reader.ended) {
    const at = reader.at;
    const mark = readInstruction(reader, marking);
    if (!mark) continue;
    parts.push(body.subarray(copiedTo, at), mark);
    copiedTo = at;
  }
  return [...parts, body.subarray(copiedTo)];
}

/** Reads over one instruction; returns what has to come before it, if it writes to memory. */
function readInstruction(reader: Reader, marking: Marking): Uint8Array | null {
  const op = reader.byte();
  const follows = FOLLOWS[op] as number;
  if (follows <= FOLLOWED_BY.twoNumbers) for (let n = 0; n < follows; n++) reader.skipNumber();
  else if (follows === FOLLOWED_BY.store) {
    reader.skipNumber();
    return marking.store(STORED[op - OP.firstStore] as number, reader.number());
  } else if (follows === FOLLOWED_BY.bulk) return readBulk(reader, marking);
  else if (follows === FOLLOWED_BY.fourBytes) reader.take(4);
  else if (follows === FOLLOWED_BY.eightBytes) reader.take(8);
  else if (follows === UNKNOWN) throw unknown(op);
  else for (let n = reader.number() + (follows === FOLLOWED_BY.listAndNumber ? 1 : 0); n > 0; n--) reader.skipNumber();
  return null;
}

function readBulk(reader: Reader, marking: Marking): Uint8Array | null {
  const op = reader.number();
  const numbers = BULK_NUMBERS[op];
  if (numbers === undefined) throw unknown(op);
  for (let n = 0; n < numbers; n++) reader.skipNumber();
  return op === MEMORY_INIT || op === MEMORY_COPY || op === MEMORY_FILL ? marking.range() : null;
}

function unknown(op: number): Error {
  return new Error(`the sandbox engine uses an instruction that is not known: ${op.toString(16)}`);
}

/** The instructions that mark pages, for functions that have so many variables of their own. */
class Marking {
  readonly #variables: number;
  readonly #stores = new Map<number, Uint8Array>();
  #range: Uint8Array | null = null;

  constructor(variables: number) {
    this.#variables = variables;
  }

  /** For a store so far behind an address; the address and a value of some type are on the stack. */
  store(value: number, offset: number): Uint8Array {
    const key = offset * STORED.length + value;
    const known = this.#stores.get(key);
    if (known) return known;
    const address = offset === 0 ? this.#get(ADDRESS) : [...this.#get(ADDRESS), ...constant(offset), OP.i32Add];
    const take = [...this.#set(value), ...this.#set(ADDRESS)];
    const made = Uint8Array.from([...take, ...markPage(address), ...this.#get(ADDRESS), ...this.#get(value)]);
    this.#stores.set(key, made);
    return made;
  }

  /** For an instruction that writes many bytes; the address, something else, and the length are on the stack. */
  range(): Uint8Array {
    if (this.#range) return this.#range;
    const values = [ADDRESS, I32, LENGTH];
    // What is shorter than a page lies in the page where it begins and in that where it ends.
    const isShort = [...this.#get(LENGTH), ...constant(MARKED_PAGE_BYTES), OP.i32LessUnsigned];
    const markEnds = [...markPage(this.#get(ADDRESS)), ...markPage([...this.#get(ADDRESS), ...this.#get(LENGTH), OP.i32Add])];
    this.#range = Uint8Array.from([
      ...values.toReversed().flatMap((value) => this.#set(value)),
      ...[...isShort, OP.if, NO_RESULT, ...markEnds, OP.else, ...this.#markAll(), OP.end],
      ...values.flatMap((value) => this.#get(value)),
    ]);
    return this.#range;
  }

  /** From the page of the address to that of the end. */
  #markAll(): number[] {
    const toPage = [...constant(PAGE_SHIFT), OP.i32ShiftRightUnsigned];
    const first = [...this.#get(ADDRESS), ...toPage];
    const bytes = [...this.#get(ADDRESS), ...constant(MARKED_PAGE_BYTES - 1), OP.i32And, ...this.#get(LENGTH), OP.i32Add];
    return [...first, ...constant(1), ...bytes, ...toPage, ...constant(1), OP.i32Add, OP.bulk, MEMORY_FILL, MARKS_MEMORY];
  }

  #get(variable: number): number[] {
    return [OP.localGet, ...encodeNumber(this.#variables + variable)];
  }

  #set(variable: number): number[] {
    return [OP.localSet, ...encodeNumber(this.#variables + variable)];
  }
}

function markPage(address: readonly number[]): number[] {
  return [...address, ...constant(PAGE_SHIFT), OP.i32ShiftRightUnsigned, ...constant(1), OP.i32Store8, OTHER_MEMORY, MARKS_MEMORY, 0];
}

function constant(value: number): number[] {
  return [OP.i32Const, ...encodeSigned(value | 0)];
}
