/**
 * Remembers what the engine's memory looks like before a request, and puts it back afterwards.
 *
 * All state of the engine is in its linear memory and one stack pointer, so restoring those restores everything JavaScript can reach:
 * globals, prototypes, closures, pending promises. After `restore`, every byte of memory is what it was, not just those the engine
 * would look at: nothing of one request is there to be found by the next.
 *
 * Only pages that were written are put back. The engine marks them itself, before it writes (see mark-writes.ts), and we mark what we
 * write. A run at 1 KB writes some 35 of 900 pages; putting those back takes 5 µs, and the rest of memory stays out of the caches.
 *
 * One image holds the engine as it is before any user code; that of a version shares all pages but those in which it differs, some
 * 100 KB.
 */

import { MARKED_PAGE_BYTES, OVERHANG_BYTES } from "./mark-writes.ts";

const PAGE_WORDS = MARKED_PAGE_BYTES / Int32Array.BYTES_PER_ELEMENT;
const OVERHANG_WORDS = Math.ceil(OVERHANG_BYTES / Int32Array.BYTES_PER_ELEMENT);
const EMPTY_PAGE = new Int32Array(PAGE_WORDS);

export class MemoryImage {
  readonly #pages: readonly Int32Array[];
  /** Those that are not shared with the image it was made from. */
  readonly #ownPages: readonly number[];

  /** Everything below `stackTopAt` is the engine's stack. No image has anything there, since nothing runs while it is taken. */
  static of(words: Int32Array, stackTopAt: number): MemoryImage {
    const empty = new Array<Int32Array>(words.length / PAGE_WORDS).fill(EMPTY_PAGE);
    return new MemoryImage(empty, []).with(words, stackTopAt);
  }

  private constructor(pages: readonly Int32Array[], ownPages: readonly number[]) {
    this.#pages = pages;
    this.#ownPages = ownPages;
  }

  /** The image of what has become of memory since it looked like this. */
  with(words: Int32Array, stackTopAt: number): MemoryImage {
    words.fill(0, 0, stackTopAt / Int32Array.BYTES_PER_ELEMENT);
    const pages = this.#pages.map((before, page) => {
      const now = words.subarray(page * PAGE_WORDS, (page + 1) * PAGE_WORDS);
      return same(before, now) ? before : now.slice();
    });
    const ownPages = [...pages.keys()].filter((page) => pages[page] !== this.#pages[page]);
    return new MemoryImage(pages, ownPages);
  }

  get sizeBytes(): number {
    return this.#pages.length * MARKED_PAGE_BYTES;
  }

  /**
   * Makes memory look like this. `before` is what it looked like before the pages marked were written: this image, the one it was made
   * from, or another one made from the same. Null when nothing is known about it.
   */
  restore(words: Int32Array, marks: Uint8Array, before: MemoryImage | null): void {
    if (before === null) marks.fill(1, 0, this.#pages.length);
    else if (before !== this) for (const image of [before, this]) for (const page of image.#ownPages) marks[page] = 1;
    for (let page = 0; page < this.#pages.length; page++) {
      if (marks[page] === 0) continue;
      const end = (page + 1) * PAGE_WORDS;
      words.set(this.#pages[page] as Int32Array, end - PAGE_WORDS);
      const next = this.#pages[page + 1];
      if (next) for (let n = 0; n < OVERHANG_WORDS; n++) words[end + n] = next[n] as number;
    }
    marks.fill(0, 0, this.#pages.length);
  }
}

function same(one: Int32Array, other: Int32Array): boolean {
  return Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
