/** Compiles a pattern with RE2 and bounds its work, so that it can be counted before any event is seen. */

import { patternWork } from "@inlet/protocol";
import { RE2JS } from "re2js";
import { patternStates, SETS_MAX } from "./pattern-states.ts";
import { SchemaRefused } from "./schema-fault.ts";

const LENGTH_MAX = 1_000;
const SIZE_MAX = 3_000;
/** Of a pattern with too many sets of states to try: with more, there are texts for which each character takes many times longer. */
const WIDTH_MAX = 16;
/** Each set of states takes one look-up for each character. */
const WIDTH_IN_TABLE = 1;

export interface BoundedPattern {
  /** As written, shortened for messages. */
  shown: string;
  /** The number of states that each character of a text may take. */
  width: number;
  /** The sets of states that the engine may keep for it, and the memory that they take. */
  sets: number;
  bytes: number;
  matches(text: string): boolean;
}

export function boundedPattern(pattern: string, place: string): BoundedPattern {
  if (pattern.length > LENGTH_MAX) throw new SchemaRefused(`has a pattern of more than ${LENGTH_MAX} characters`, place);
  const { size, width } = patternWork(pattern);
  if (size > SIZE_MAX) throw new SchemaRefused(`has a pattern that is too large: it repeats its parts ${SIZE_MAX} times or more`, place);
  const compiled = compile(pattern, place);
  const { sets, bytes } = patternStates(pattern);
  const active = sets === null ? Math.min(width, compiled.programSize()) : WIDTH_IN_TABLE;
  if (active > WIDTH_MAX)
    throw new SchemaRefused("has a pattern that is too complex: let it start with ^, with fewer alternatives and repetitions", place);
  const shown = pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern;
  return { shown, width: active, sets: sets ?? SETS_MAX, bytes, matches: (text) => compiled.test(text) };
}

function compile(pattern: string, place: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new SchemaRefused(`cannot be used: ${error instanceof Error ? error.message : error}`, place);
  }
}
