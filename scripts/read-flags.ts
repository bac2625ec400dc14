/** The flags of a command for contributors. `--help` shows its usage; an unknown flag is named, with the usage, and ends it with exit code 2. */

import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

type Values<Flags extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Flags }>>["values"];

export function readFlags<const Flags extends ParseArgsOptionsConfig>(usage: string, options: Flags): Values<Flags> {
  if (process.argv.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return endWithUsage((error as Error).message, usage);
  }
}

export function endWithUsage(problem: string, usage: string): never {
  console.error(`error: ${problem}\n\n${usage}`);
  process.exit(2);
}
