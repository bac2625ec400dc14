/** Reads the flags and variables of a sub-command. A flag wins over its variable; an empty variable is none. */

import { parseArgs } from "node:util";
import { CommandFault } from "./command-fault.ts";
import { COMMANDS, type CommandName, type CommandRow, FLAGS, type Flag, type FlagName } from "./command-table.ts";
import { isEnvironmentName } from "./folder/webhook-file.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Options {
  names: string[];
  dir: string;
  from: string | null;
  list: boolean;
  force: boolean;
  prune: boolean;
  skipTests: boolean;
  url: string;
  apiKey: string | null;
  env: string | null;
  json: boolean;
}

export function readOptions(command: CommandName, argv: readonly string[], variables: Variables): Options {
  const { flags, namesMax }: CommandRow = COMMANDS[command];
  const { values, positionals } = parse(command, argv);
  if (positionals.length > namesMax) throw usage(command, `"${positionals[namesMax]}" is one name too many`);
  const text = (name: FlagName): string | null => {
    const { variable, fallback }: Flag = FLAGS[name];
    const given = values[name] ?? (flags.includes(name) && variable !== undefined && variables[variable]);
    return typeof given === "string" && given.trim() !== "" ? given.trim() : (fallback ?? null);
  };
  const options = {
    names: positionals,
    dir: text("dir") as string,
    from: text("from"),
    list: values.list === true,
    force: values.force === true,
    prune: values.prune === true,
    skipTests: values["skip-tests"] === true,
    url: text("url") as string,
    apiKey: text("api-key"),
    env: text("env"),
    json: values.json === true,
  };
  checkOptions(command, options);
  return options;
}

function parse(command: CommandName, argv: readonly string[]) {
  const { flags }: CommandRow = COMMANDS[command];
  const options = Object.fromEntries(flags.map((name) => [name, { type: FLAGS[name].type }]));
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    return { values: values as Partial<Record<FlagName, string | boolean>>, positionals };
  } catch (error) {
    throw usage(command, firstSentence((error as Error).message));
  }
}

function checkOptions(command: CommandName, { url, apiKey, env }: Options): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) throw usage(command, `"${url}" is not a URL such as http://localhost:8288`);
  // It goes into a header. It is a secret, so the message does not repeat it.
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) throw usage(command, "the API key has characters no key has");
  if (env !== null && !isEnvironmentName(env)) throw usage(command, `"${env}" is not the name of an environment`);
}

function usage(command: CommandName, sentence: string): CommandFault {
  return new CommandFault([`${sentence}.`, `"inlet webhooks ${command} --help" lists the flags.`]);
}

/** What follows in Node's messages is advice about its own function. */
function firstSentence(message: string): string {
  return message.split(/\.\s|\.$|\n/)[0] ?? message;
}
