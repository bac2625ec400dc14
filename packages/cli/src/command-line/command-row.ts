/**
 * A command of `inlet`: words, flags, sentences and the function that runs it. Parsing, `--help`, shell completion
 * and docs/reference/cli.md are all generated from these rows.
 */

import type { CommandResult } from "./command-result.ts";

export interface Flag {
  type: "string" | "boolean";
  /** The name of the value in help. */
  placeholder?: string;
  /** Can be repeated. */
  many?: true;
  /** The variable that is used if the flag is not set. */
  variable?: string;
  fallback?: string;
  choices?: readonly string[];
  /** Its value never appears in messages. */
  secret?: true;
  /** Returns what is wrong with the value, or null. */
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

/** The streams and variables of a command. Tests replace those of the process. */
export interface Io {
  out: NodeJS.WriteStream;
  err: NodeJS.WriteStream;
  stdin: NodeJS.ReadStream;
  variables: Variables;
  /** Aborted by Ctrl-C or SIGTERM. Signals are handled only once a command has called this. */
  interrupted: () => AbortSignal;
}

export interface Call<Known extends Flags> {
  options: OptionsOf<Known>;
  /** The positional arguments. */
  names: string[];
  io: Io;
  /** All commands. */
  table: CommandTable;
}

export type Exits = readonly (readonly [code: number, meaning: string])[];

export interface CommandText {
  /** `["events", "list"]` */
  words: readonly string[];
  /** The positional arguments in usage, such as `<id>`. */
  operands?: string;
  sentence: string;
  /** Further explanation. */
  more?: string;
  /** The minimum and maximum number of positional arguments. */
  namesMin?: number;
  namesMax?: number;
  /** Allowed values of a positional argument, for completion and help. */
  nameChoices?: readonly string[];
  examples: readonly (readonly [command: string, meaning: string])[];
  /** Replaces the default exit codes. Codes that are not listed are never used. */
  exits?: Exits;
  /** The exit code for invalid flags or names, if 2 has another meaning. */
  usageExit?: number;
}

export interface CommandRow extends CommandText {
  flags: Flags;
  /** The settings of the service are flags too. The service reads them itself, so `names` contains all arguments. */
  settings?: "dev" | "start";
  run(call: Call<Flags>): Promise<CommandResult>;
}

/** A typed row: its function gets options with the types of its flags. */
export function command<const Known extends Flags>(
  row: CommandText & Pick<CommandRow, "settings"> & { flags: Known; run(call: Call<Known>): Promise<CommandResult> },
): CommandRow {
  return row as unknown as CommandRow;
}

/** Commands with the same first word. */
export interface CommandGroup {
  word: string;
  sentence: string;
}

export interface CommandTable {
  rows: readonly CommandRow[];
  groups: readonly CommandGroup[];
}

export const USUAL_EXITS: Exits = [
  [0, "success"],
  [1, "failed, or refused by the service"],
  [2, "invalid flags or names"],
  [3, "the service is unreachable or overloaded; retry later"],
  [4, "the key is missing, unknown or not authorised"],
];

export function exitsOf({ exits }: CommandText): Exits {
  return exits ?? USUAL_EXITS;
}
