/**
 * What a command of `inlet` is: words, flags, sentences and the function that runs it. From rows of this shape come parsing, `--help`,
 * shell completion and docs/cli.md, so that none of them can say something else than the others.
 */

import type { CommandResult } from "./command-result.ts";

export interface Flag {
  type: "string" | "boolean";
  /** What stands in the value's place in help. */
  placeholder?: string;
  /** May be given several times. */
  many?: true;
  /** The variable that is read when the flag is not given. */
  variable?: string;
  fallback?: string;
  choices?: readonly string[];
  /** Its value is never repeated in a message. */
  secret?: true;
  /** Completes "--flag …" with what is wrong with the value, or null. */
  fault?: (value: string) => string | null;
  sentence: string;
}

export type Flags = Readonly<Record<string, Flag>>;

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

type ValueOf<Given extends Flag> = Given extends { type: "boolean" }
  ? boolean
  : Given extends { many: true }
    ? string[]
    : Given extends { fallback: string }
      ? string
      : string | null;

/** The values of the flags by their names: `--api-key` is `apiKey`. */
export type OptionsOf<Known extends Flags> = { [Name in keyof Known & string as Camel<Name>]: ValueOf<Known[Name]> };

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where a command reads and writes; its own process, unless a test says otherwise. */
export interface Io {
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
  stdin: NodeJS.ReadStream;
  variables: Variables;
  /** Aborted by Ctrl-C or SIGTERM, once a command has asked for it: commands that end by themselves are simply ended. */
  interrupted: () => AbortSignal;
}

export interface Call<Known extends Flags> {
  options: OptionsOf<Known>;
  /** What stands beside the flags. */
  names: string[];
  io: Io;
  /** Every command there is. */
  table: CommandTable;
}

export type Exits = readonly (readonly [code: number, meaning: string])[];

export interface CommandText {
  /** `["events", "list"]` */
  words: readonly string[];
  /** What follows the words, such as `<id>`. */
  operands?: string;
  sentence: string;
  /** What a person should know beyond the sentence. */
  more?: string;
  /** How many names must, and may, follow. */
  namesMin?: number;
  namesMax?: number;
  /** Words that may stand in a name's place, for completion and help. */
  nameChoices?: readonly string[];
  examples: readonly (readonly [command: string, meaning: string])[];
  /** In place of the usual ones; a code that is not listed is never used. */
  exits?: Exits;
  /** The code for a mistake in flags or names, where 2 means something else. */
  usageExit?: number;
}

export interface CommandRow extends CommandText {
  flags: Flags;
  /** The service's own settings are flags as well; it reads them itself, so `names` is everything that was given. */
  settings?: "dev" | "start";
  run(call: Call<Flags>): Promise<CommandResult>;
}

/** A row whose function gets its options with the types its flags give them. */
export function command<const Known extends Flags>(
  row: CommandText & Pick<CommandRow, "settings"> & { flags: Known; run(call: Call<Known>): Promise<CommandResult> },
): CommandRow {
  return row as unknown as CommandRow;
}

/** Commands under one first word. */
export interface CommandGroup {
  word: string;
  sentence: string;
}

export interface CommandTable {
  rows: readonly CommandRow[];
  groups: readonly CommandGroup[];
}

export const USUAL_EXITS: Exits = [
  [0, "done"],
  [1, "it failed, or the service refused it"],
  [2, "a mistake in the flags or names"],
  [3, "the service cannot be reached, or has no room right now: worth trying again"],
  [4, "the key is missing, unknown, or not allowed to do this"],
];

export function exitsOf({ exits }: CommandText): Exits {
  return exits ?? USUAL_EXITS;
}
