/**
 * How much work a regular expression of RE2 is, from its text alone, before it is compiled. RE2 takes time in proportion to the text
 * times the number of states that are active at once. `width` bounds that number: a pattern that starts with ^ and has a fixed length
 * has one active state, while `[ab]*a[ab]{1000}` may have a thousand. `size` bounds the instructions it is compiled to.
 */

export interface PatternWork {
  size: number;
  width: number;
}

/**
 * A part of a pattern. `spread` is the difference between its longest and its shortest match. Without one, the states that are active
 * in it come together at its end; with one, the parts after it are entered that many characters apart.
 */
interface Piece extends PatternWork {
  length: number;
  spread: number;
}

const ATOM: Piece = { size: 1, width: 1, length: 1, spread: 0 };

/** Too high rather than too low; meaningless for a text that RE2 does not accept. */
export function patternWork(pattern: string): PatternWork {
  const scan = new PatternScan(pattern);
  const { size, width } = scan.whole();
  // A pattern that may start anywhere adds a state at each character.
  const isAnchored = /^(?:\^|\\A)/.test(pattern) && !scan.hasTopLevelChoice && !/\(\?[a-zA-Z]*m/.test(pattern);
  return { size: size + 2, width: isAnchored ? width : size };
}

class PatternScan {
  readonly #text: string;
  #at = 0;
  hasTopLevelChoice = false;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Piece {
    const parts: Piece[] = [];
    while (this.#at < this.#text.length) {
      const { choices, piece } = this.#alternatives();
      this.hasTopLevelChoice ||= choices > 1;
      parts.push(piece);
      // A closing parenthesis without an opening one: RE2 refuses the pattern.
      this.#at++;
    }
    return sequenceOf(parts);
  }

  #alternatives(): { choices: number; piece: Piece } {
    const choices: Piece[] = [];
    let parts: Piece[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== ")") {
      if (this.#text[this.#at] === "|") {
        choices.push(sequenceOf(parts));
        parts = [];
        this.#at++;
      } else parts.push(this.#repeated(this.#atom()));
    }
    choices.push(sequenceOf(parts));
    return { choices: choices.length, piece: choiceOf(choices) };
  }

  #atom(): Piece {
    const unit = this.#text[this.#at];
    if (unit === "(") return this.#group();
    if (unit === "[") return this.#skip(/\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]?/y);
    if (unit === "\\" && this.#text[this.#at + 1] === "Q") return this.#quoted();
    if (unit === "\\") return this.#skip(/\\(?:[pPx]\{[^}]*\}?|[\s\S]?)/y);
    this.#at++;
    return ATOM;
  }

  #skip(form: RegExp): Piece {
    form.lastIndex = this.#at;
    this.#at += Math.max(form.exec(this.#text)?.[0].length ?? 0, 1);
    return ATOM;
  }

  #quoted(): Piece {
    const end = this.#text.indexOf("\\E", this.#at);
    const length = (end < 0 ? this.#text.length : end) - this.#at - 2;
    this.#at = end < 0 ? this.#text.length : end + 2;
    return { size: length, width: 1, length, spread: 0 };
  }

  #group(): Piece {
    this.#skip(/\((?:\?(?:P?<\w+>|[a-zA-Z-]*:?))?/y);
    const { piece } = this.#alternatives();
    this.#at++;
    return { ...piece, size: piece.size + 2 };
  }

  #repeated(of: Piece): Piece {
    const form = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y;
    let piece = of;
    for (;;) {
      form.lastIndex = this.#at;
      const found = form.exec(this.#text);
      if (!found) return piece;
      this.#at += found[0].length;
      const [, sign, least, range, most] = found;
      const [min, max] = sign === undefined ? [Number(least), most ? Number(most) : Number.POSITIVE_INFINITY] : signed(sign);
      if (sign === undefined && range === undefined) piece = copiesOf(piece, min);
      else piece = loopOf(piece, min, max, Math.max(max === Number.POSITIVE_INFINITY ? min + 1 : max, 1));
    }
  }
}

function signed(sign: string): [number, number] {
  if (sign === "?") return [0, 1];
  return [sign === "+" ? 1 : 0, Number.POSITIVE_INFINITY];
}

/** The parts after one with a spread may be active at several characters at once. */
function sequenceOf(parts: readonly Piece[]): Piece {
  let rest: Piece = { size: 0, width: 0, length: 0, spread: 0 };
  for (const part of [...parts].reverse()) {
    const after = part.spread < rest.size ? Math.min(rest.size, (part.spread + 1) * rest.width) : rest.size;
    rest = {
      size: part.size + rest.size,
      width: part.spread === 0 ? Math.max(part.width, rest.width) : part.width + after,
      length: part.length + rest.length,
      spread: part.spread + rest.spread,
    };
  }
  return { ...rest, width: Math.max(1, rest.width) };
}

function choiceOf(choices: readonly Piece[]): Piece {
  const [first = ATOM, ...others] = choices;
  if (others.length === 0) return first;
  const longest = Math.max(...choices.map(({ length, spread }) => length + spread));
  const length = Math.min(...choices.map((choice) => choice.length));
  return {
    size: sum(choices) + others.length,
    width: choices.reduce((total, { width }) => total + width, 0),
    length,
    spread: longest - length,
  };
}

function copiesOf(piece: Piece, count: number): Piece {
  const { length, spread } = piece;
  const size = piece.size * Math.max(count, 1);
  const width = spread === 0 ? piece.width : Math.min(size, piece.width * count);
  return { size, width, length: length * count, spread: count === 0 ? 0 : spread * count };
}

/** `copies`: how often the part is written out in the program. */
function loopOf(piece: Piece, countMin: number, countMax: number, copies: number): Piece {
  const size = (piece.size + 1) * copies;
  const isBounded = countMax !== Number.POSITIVE_INFINITY;
  const width = piece.spread === 0 ? piece.width + 1 : isBounded ? Math.min(size, piece.width * countMax + 1) : size;
  const length = piece.length * countMin;
  return { size, width, length, spread: isBounded ? (piece.length + piece.spread) * countMax - length : Number.POSITIVE_INFINITY };
}

function sum(parts: readonly Piece[]): number {
  return parts.reduce((total, { size }) => total + size, 0);
}
