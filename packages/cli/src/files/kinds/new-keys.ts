/**
 * Where the text of new keys goes. It is shown once, so apply asks for a place before it sends anything: a file that only its owner can
 * read, or `-` for the output, which in CI is a log that others can read.
 */

import { closeSync, fchmodSync, fsyncSync, openSync, writeSync } from "node:fs";
import { CommandFault } from "../../command-line/command-fault.ts";

export interface NewKey {
  kind: string;
  name: string;
  environment?: string | null;
  key: string;
}

export interface NewKeys {
  /** Throws a CommandFault if there is no place for a key. `why` completes the sentence. */
  check(why: string): void;
  /** Returns what to print below the step. */
  write(keys: readonly NewKey[]): string[];
}

export function createNewKeys(target: string | null): NewKeys {
  return {
    check(why) {
      if (target === null)
        throw new CommandFault(
          `${why}, which the server shows only once: name a file for it with --keys-to, such as --keys-to new-keys.json; - prints it.`,
        );
      if (target !== "-") append(target, "");
    },
    write(keys) {
      if (target === "-" || target === null) return keys.map(({ kind, key }) => `${kind} key: ${key}`);
      append(
        target,
        keys.map(({ kind, name, environment = null, key }) => `${JSON.stringify({ kind, name, environment, key })}\n`).join(""),
      );
      return keys.map(({ kind }) => `${kind} key: written to ${target}`);
    },
  };
}

/** On the disk before the next step. */
function append(file: string, text: string): void {
  const open = openSync(file, "a", 0o600);
  try {
    fchmodSync(open, 0o600);
    writeSync(open, text);
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}
