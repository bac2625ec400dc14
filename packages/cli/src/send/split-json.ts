/**
 * Splits a text stream into JSON values without parsing them: one value, an array (returns its elements), one value per
 * line (NDJSON), or a mixture. It buffers only the current value, so the input can be larger than memory.
 */

import { CommandFault } from "../command-line/command-fault.ts";

export interface SplitValue {
  /** The original text. */
  text: string;
  /** The line on which it starts, counted from 1. */
  line: number;
}

export class JsonSplitter {
  readonly #source: string;
  #line = 1;
  /** Between values, inside brackets, or in a number or literal, which ends at the next other character. */
  #state: "between" | "container" | "word" = "between";
  /** Text of the current value from earlier chunks. */
  #held = "";
  #valueLine = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The line on which the outer array starts; 0 outside an array. */
  #arrayLine = 0;
  /** In the outer array: what can come next. */
  #expects: "value or end" | "value" | "comma or end" = "value or end";

  /** `source` appears in messages: `events.json:3: …`. */
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

  /** The last value, if the input ends without a line break. */
  end(): SplitValue[] {
    const values = this.#state === "word" ? [this.#finish("")] : [];
    if (this.#state === "container") throw this.fault(this.#valueLine, "the input ends inside the value that starts here");
    if (this.#arrayLine > 0) throw this.fault(this.#arrayLine, "the array that starts here is not closed");
    return values;
  }

  fault(line: number, message: string): CommandFault {
    return new CommandFault(`${this.#source}:${line}: ${message}`, "input_invalid");
  }

  /** Whether a value starts with this character. Tracks brackets and commas between values. */
  #begins(c: string): boolean {
    if (isSpace(c)) return false;
    const inArray = this.#arrayLine > 0;
    if (inArray && c === "," && this.#expects === "comma or end") this.#expects = "value";
    else if (inArray && c === "]" && this.#expects !== "value") this.#arrayLine = 0;
    else if (!inArray && c === "[") {
      this.#arrayLine = this.#line;
      this.#expects = "value or end";
    } else {
      if (/[,\]}:]/.test(c) || (inArray && this.#expects === "comma or end")) throw this.fault(this.#line, `"${c}" is unexpected here`);
      this.#state = c === "{" || c === "[" ? "container" : "word";
      this.#inString = c === '"';
      this.#depth = this.#state === "container" ? 1 : 0;
      this.#valueLine = this.#line;
      return true;
    }
    return false;
  }

  /** Whether the current container ends with this character. */
  #closes(c: string): boolean {
    // The opening bracket was counted at the start of the value.
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
