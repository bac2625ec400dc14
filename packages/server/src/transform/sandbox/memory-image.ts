/**
 * Stores the contents of the engine's memory before a request, and restores it.
 *
 * All state of the engine is in its linear memory and one stack pointer, so restoring those restores everything JavaScript can
 * reach: globals, prototypes, closures, pending promises. `restore` clears the whole memory and writes the pages of the image into it.
 * Every byte is then as before, whatever a request wrote and wherever: nothing has to be known about the request.
 */

/** Most of memory is empty. Only pages with content are stored. */
const PAGE_BYTES = 4_096;
const EMPTY_PAGE = new Uint8Array(PAGE_BYTES);

interface Page {
  at: number;
  bytes: Uint8Array;
}

export class MemoryImage {
  readonly sizeBytes: number;
  readonly #pages: readonly Page[];

  /** Everything below `stackTopAt` is the engine's stack. It is empty in every image, since nothing runs while one is taken. */
  constructor(memory: Uint8Array, stackTopAt: number) {
    this.sizeBytes = memory.length;
    const pages: Page[] = [];
    for (let at = 0; at < memory.length; at += PAGE_BYTES) {
      const bytes = new Uint8Array(memory.subarray(at, at + PAGE_BYTES));
      bytes.fill(0, 0, Math.max(0, stackTopAt - at));
      if (Buffer.compare(bytes, EMPTY_PAGE) !== 0) pages.push({ at, bytes });
    }
    this.#pages = pages;
  }

  /** `memory` must have the size of the image. */
  restore(memory: Uint8Array): void {
    memory.fill(0);
    for (const { at, bytes } of this.#pages) memory.set(bytes, at);
  }
}
