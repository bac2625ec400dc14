/** What a transform wrote to its console: one text per call, bounded in number and in bytes. The rest is cut, and a last line says so. */

export interface LogLimits {
  logLinesMax: number;
  logBytesMax: number;
}

const decoder = new TextDecoder();

export class LogLines {
  readonly #limits: LogLimits;
  #lines: string[] = [];
  #bytes = 0;
  #cut = false;

  constructor(limits: LogLimits) {
    this.#limits = limits;
  }

  /** Nothing more is kept, so a line need not even be read. */
  get full(): boolean {
    return this.#cut;
  }

  /** Takes the UTF-8 bytes of one line; they are read only as far as there is room. */
  add(text: Uint8Array): void {
    if (this.#cut) return;
    const room = this.#limits.logBytesMax - this.#bytes;
    if (this.#lines.length >= this.#limits.logLinesMax || (room <= 0 && text.length > 0)) {
      this.#cut = true;
      return;
    }
    this.#cut = text.length > room;
    const kept = text.subarray(0, room);
    this.#bytes += kept.length;
    // A character cut in half would decode to a replacement character.
    this.#lines.push(this.#cut ? decoder.decode(kept).replace(/\uFFFD$/, "") : decoder.decode(kept));
  }

  /** Hands over the lines and begins anew. */
  take(): string[] {
    const lines = this.#lines;
    const { logLinesMax, logBytesMax } = this.#limits;
    if (this.#cut) lines.push(`[the rest was cut: at most ${logLinesMax} lines and ${logBytesMax} bytes are kept]`);
    this.#lines = [];
    this.#bytes = 0;
    this.#cut = false;
    return lines;
  }
}
