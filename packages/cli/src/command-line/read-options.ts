/**
 * Reads the flags and variables of a command. A flag takes precedence over its variable. An empty variable counts as
 * unset; an empty flag is an error: as unset, it would widen what a command does to another environment, or to everything.
 */

import { parseArgs } from "node:util";
import { nearest } from "@inlet/protocol";
import { CommandFault } from "./command-fault.ts";
import { EXIT } from "./command-result.ts";
import type { CommandRow, Flag, Flags, OptionsOf, Variables } from "./command-row.ts";

type Given = string | boolean | string[] | null;

export function readOptions(
  row: CommandRow,
  argv: readonly string[],
  variables: Variables,
): { options: OptionsOf<Flags>; names: string[] } {
  const { values, positionals } = parse(row, argv);
  const { namesMin = 0, namesMax = 0 } = row;
  if (positionals.length > namesMax) throw usage(row, `"${positionals[namesMax]}" is an extra argument`);
  if (positionals.length < namesMin) throw usage(row, `${row.operands ?? "a name"} is missing`);
  const odd = row.nameChoices && positionals.find((name) => !row.nameChoices?.includes(name));
  if (odd !== undefined) throw usage(row, `"${odd}" is not one of ${row.nameChoices?.join(", ")}`);
  const options = Object.entries(row.flags).map(([name, flag]) => {
    if ([values[name]].flat().some((given) => typeof given === "string" && given.trim() === "")) throw usage(row, `--${name} is empty`);
    const value = optionValue(flag, values[name], variables);
    for (const text of [value].flat()) if (typeof text === "string") check(row, name, flag, text);
    return [camel(name), value] as const;
  });
  return { options: Object.fromEntries(options) as OptionsOf<Flags>, names: positionals };
}

function parse(row: CommandRow, argv: readonly string[]) {
  const options = Object.fromEntries(Object.entries(row.flags).map(([name, { type, many }]) => [name, { type, multiple: many === true }]));
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    return { values: values as Record<string, string | boolean | string[] | undefined>, positionals };
  } catch (error) {
    const message = firstSentence((error as Error).message);
    const dashed = /^Option '--([^' ]+).*' argument is ambiguous/.exec(message)?.[1];
    if (dashed !== undefined) throw usage(row, dashedValue(row, dashed, argv));
    const given = /^Unknown option '-{1,2}([^']+)'/.exec(message)?.[1];
    const near = given === undefined ? null : nearest(given, Object.keys(row.flags));
    throw usage(row, near === null ? message : `${message}; did you mean "--${near}"?`);
  }
}

/** Node takes what begins with a dash for the next flag. */
function dashedValue({ flags }: CommandRow, name: string, argv: readonly string[]): string {
  const at = argv.findIndex((word, i) => word === `--${name}` && argv[i + 1]?.startsWith("-"));
  const value = flags[name]?.secret ? "…" : argv[at + 1];
  return `the value of --${name} is missing; if it begins with a dash, write --${name}=${value}`;
}

function optionValue({ type, many, variable, fallback }: Flag, given: Given | undefined, variables: Variables): Given {
  const fromVariable = variable === undefined ? undefined : readVariable(variable, variables);
  if (type === "boolean") return given === true || (given === undefined && fromVariable === "true");
  if (many) return (given as string[] | undefined) ?? [];
  const text = given ?? fromVariable;
  return typeof text === "string" && text.trim() !== "" ? text.trim() : (fallback ?? null);
}

/** Names that begin with SERVICE_ work too, except SERVICE_ENV: see other-environment.ts. */
export function readVariable(variable: string, variables: Variables): string | undefined {
  return variables[variable] || (variable === "INLET_ENV" ? undefined : variables[variable.replace(/^INLET_/, "SERVICE_")]);
}

function check(row: CommandRow, name: string, { choices, fault }: Flag, value: string): void {
  if (choices && !choices.includes(value)) throw usage(row, `--${name} must be one of ${choices.join(", ")}, not "${value}"`);
  const wrong = fault?.(value);
  if (wrong) throw usage(row, wrong);
}

export function usage({ words }: CommandRow, sentence: string): CommandFault {
  return new CommandFault(
    [sentence.endsWith("?") ? sentence : `${sentence}.`, `"inlet ${words.join(" ")} --help" lists the flags.`],
    "usage",
    EXIT.usage,
  );
}

/** Removes the advice about its own API from Node's message. */
function firstSentence(message: string): string {
  return message.split(/\.\s|\.$|\n/)[0] ?? message;
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
