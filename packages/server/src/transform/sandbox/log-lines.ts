/**
 * The console output of a transform: one text per call, bounded in number and in bytes. The rest is truncated, and a last line says so.
 *
 * Lines are written to memory that is shared with the main thread: the output of a run that never ends is kept when its thread is terminated.
 */

export interface LogLimits {
  logLinesMax: number;
  logBytesMax: number;
}

/** Stored before the ends of the lines: their number, and whether something was truncated. */
const COUNT = 0;
const CUT = 1;
const FIRST_END = 2;
/** The values of CUT. */
const NOTHING = 0;
const WHOLE_LINES = 1;
const WITHIN_A_LINE = 2;

const decoder = new TextDecoder();

export function logMemory({ logLinesMax, logBytesMax }: LogLimits): SharedArrayBuffer {
  return new SharedArrayBuffer((FIRST_END + logLinesMax) * Int32Array.BYTES_PER_ELEMENT + logBytesMax);
}

export class LogLines {
  readonly #limits: LogLimits;
  readonly #numbers: Int32Array;
  readonly #text: Uint8Array;

  constructor(limits: LogLimits, memory: SharedArrayBuffer) {
    this.#limits = limits;
    this.#numbers = new Int32Array(memory, 0, FIRST_END + limits.logLinesMax);
    this.#text = new Uint8Array(memory, this.#numbers.byteLength);
  }

  /** No more is stored, so a line need not even be read. */
  get full(): boolean {
    return this.#numbers[CUT] !== NOTHING;
  }

  /** Takes the UTF-8 bytes of one line; they are read only as far as there is space. */
  add(text: Uint8Array): void {
    if (this.full) return;
    const count = this.#numbers[COUNT] as number;
    const begin = this.#endOf(count - 1);
    const room = this.#limits.logBytesMax - begin;
    if (count >= this.#limits.logLinesMax || (room <= 0 && text.length > 0)) {
      this.#numbers[CUT] = WHOLE_LINES;
      return;
    }
    if (text.length > room) this.#numbers[CUT] = WITHIN_A_LINE;
    const kept = text.subarray(0, room);
    this.#text.set(kept, begin);
    this.#numbers[FIRST_END + count] = begin + kept.length;
    this.#numbers[COUNT] = count + 1;
  }

  /** Returns the lines and resets. */
  take(): string[] {
    if (this.#numbers[COUNT] === 0 && !this.full) return [];
    const { logLinesMax, logBytesMax } = this.#limits;
    const lines = Array.from({ length: this.#numbers[COUNT] as number }, (_, n) => this.#line(n));
    // A truncated character decodes to a replacement character.
    if (this.#numbers[CUT] === WITHIN_A_LINE) lines.push((lines.pop() ?? "").replace(/\uFFFD$/, ""));
    if (this.full) {
      lines.push(`[the rest was cut: at most ${logLinesMax} lines and ${logBytesMax} bytes are kept]`);
    }
    this.#numbers.fill(0, 0, FIRST_END);
    return lines;
  }

  /** Decoders do not accept shared memory: the bytes are copied first. */
  #line(n: number): string {
    return decoder.decode(this.#text.slice(this.#endOf(n - 1), this.#endOf(n)));
  }

  #endOf(n: number): number {
    return n < 0 ? 0 : (this.#numbers[FIRST_END + n] as number);
  }
}
