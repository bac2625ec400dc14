/**
 * Splits text into JSON values as it arrives, without parsing them: one value, an array of values (its elements come out), one value
 * per line (NDJSON), or any mixture. It holds only the value it is in the middle of, so input may be longer than memory.
 */

import { CommandFault } from "../command-line/command-fault.ts";

export interface SplitValue {
  /** As it was written. */
  text: string;
  /** The line it begins on, counted from 1. */
  line: number;
}

export class JsonSplitter {
  readonly #source: string;
  #line = 1;
  /** Between values; inside brackets; in a number or word, which ends where something else begins. */
  #state: "between" | "container" | "word" = "between";
  /** Text of the value under way from chunks before this one. */
  #held = "";
  #valueLine = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The line on which the outer array opened; 0 outside of one. */
  #arrayLine = 0;
  /** In the outer array: what may come next. */
  #expects: "value or end" | "value" | "comma or end" = "value or end";

  /** `source` is named in messages: `events.json:3: …`. */
  constructor(source: string) {
    this.#source = source;
  }

  push(chunk: string): SplitValue[] {
    const values: SplitValue[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const c = chunk[at] as string;
      if (this.#state === "word" && isEndOfWord(c)) values.push(this.#finish(chunk.slice(start, at)));
      if (c === "\n") this.#line++;
      if (this.#state === "between") {
        if (this.#begins(c)) start = at;
      } else if (this.#state === "container" && this.#closes(c)) {
        values.push(this.#finish(chunk.slice(start, at + 1)));
      }
    }
    if (this.#state !== "between") this.#held += chunk.slice(start);
    return values;
  }

  /** The last value, if the input ended without a line break after it. */
  end(): SplitValue[] {
    const values = this.#state === "word" ? [this.#finish("")] : [];
    if (this.#state === "container") throw this.fault(this.#valueLine, "the input ends in the middle of the value that begins here");
    if (this.#arrayLine > 0) throw this.fault(this.#arrayLine, "the array that begins here is not closed");
    return values;
  }

  fault(line: number, message: string): CommandFault {
    return new CommandFault(`${this.#source}:${line}: ${message}`, "input_invalid");
  }

  /** Whether a value begins with this character; takes note of what surrounds values. */
  #begins(c: string): boolean {
    if (isSpace(c)) return false;
    const inArray = this.#arrayLine > 0;
    if (inArray && c === "," && this.#expects === "comma or end") this.#expects = "value";
    else if (inArray && c === "]" && this.#expects !== "value") this.#arrayLine = 0;
    else if (!inArray && c === "[") {
      this.#arrayLine = this.#line;
      this.#expects = "value or end";
    } else {
      if (/[,\]}:]/.test(c) || (inArray && this.#expects === "comma or end")) throw this.fault(this.#line, `"${c}" is out of place here`);
      this.#state = c === "{" || c === "[" ? "container" : "word";
      this.#inString = c === '"';
      this.#depth = this.#state === "container" ? 1 : 0;
      this.#valueLine = this.#line;
      return true;
    }
    return false;
  }

  /** Whether the container under way ends with this character. */
  #closes(c: string): boolean {
    // The opening bracket itself was counted when the value began.
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (c === "\\") this.#escaped = true;
      else if (c === '"') this.#inString = false;
      return false;
    }
    if (c === '"') this.#inString = true;
    else if (c === "{" || c === "[") this.#depth++;
    else if (c === "}" || c === "]") this.#depth--;
    return this.#depth === 0;
  }

  #finish(rest: string): SplitValue {
    const value = { text: this.#held + rest, line: this.#valueLine };
    this.#held = "";
    this.#state = "between";
    this.#expects = "comma or end";
    return value;
  }
}

function isSpace(c: string): boolean {
  return c === " " || c === "\n" || c === "\r" || c === "\t" || c === "\uFEFF";
}

function isEndOfWord(c: string): boolean {
  return isSpace(c) || c === "," || c === "]";
}
