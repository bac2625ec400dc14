/**
 * Counts the sets of states that a compiled pattern can be in, by trying every class of characters in every set. RE2 keeps a table of
 * these sets: as long as all of them fit, each character of a text takes one look-up, however many states are active at once.
 *
 * It uses the tables of the engine itself, so that classes, flags and Unicode mean the same. They are typed, but not documented:
 * pattern-states.test.ts holds the versions of the engine to what is assumed here.
 */

import { RE2JS } from "re2js";

/** Far below what the engine's memory suffices for, so that its table is never given up; the engine may keep a set twice, after a line's end. */
export const SETS_MAX = 2_000;
/** Of one set, tried with one class. Bounds the time to declare a schema. */
const WORK_MAX = 500_000;
/** The flags of a text's beginning, and the search from any position, as the engine encodes them. */
const BEGIN_TEXT = 4 | 1;
const UNANCHORED = 0;
const END_TEXT = -1;
const NEW_LINE = 10;
const LAST_CHARACTER = 0x10ffff;

export interface PatternStates {
  /** Null: more than are tried. */
  sets: number | null;
  /** What the engine's table of them takes at most. */
  bytes: number;
}

export function patternStates(pattern: string): PatternStates {
  // Tried on a copy: the one that is used builds only what it needs.
  const { dfa } = RE2JS.compile(pattern).re2Input;
  const characters = [...distinctCharacters(dfa), END_TEXT];
  const sets = new Set<State>([dfa.makeState([dfa.prog.start], BEGIN_TEXT, [])]);
  let work = 0;
  for (const set of sets) {
    for (const character of characters) {
      const of = character === END_TEXT ? dfa.numClasses : dfa.runeClass(character);
      const next: State | null = dfa.step(set, of, character, UNANCHORED);
      work += 1 + set.nfaStates.length;
      // Null: its memory does not suffice.
      if (next === null || sets.size > SETS_MAX || work > WORK_MAX) return { sets: null, bytes: dfa.maxMem };
      sets.add(next);
    }
  }
  return { sets: sets.size, bytes: dfa.stateBudget - dfa.memBudget };
}

interface State {
  nfaStates: readonly number[];
}

interface Program {
  numInst(): number;
  getInst(at: number): { op: number; arg: number; runes: Int32Array; matchRune(character: number): boolean };
}

/** One character for all that the pattern does not tell apart. The engine has classes of ranges, which are many more in Unicode. */
function distinctCharacters({ prog, classBounds }: { prog: Program; classBounds: Int32Array }): Iterable<number> {
  const instructions = Array.from({ length: prog.numInst() }, (_, at) => prog.getInst(at));
  const tests = [...new Map(instructions.map((one) => [`${one.op} ${one.arg} ${one.runes.join()}`, one])).values()];
  const bySignature = new Map<string, number>();
  for (const character of [0, ...classBounds].filter((one) => one <= LAST_CHARACTER)) {
    const signature = tests.map((one) => (one.matchRune(character) ? "1" : "0")).join("");
    bySignature.set(`${signature} ${character === NEW_LINE} ${isWord(character)}`, character);
  }
  return bySignature.values();
}

function isWord(character: number): boolean {
  return /^\w$/.test(String.fromCodePoint(character));
}
