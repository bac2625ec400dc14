/**
 * Where the text of new keys goes. It is shown once, so apply asks for a place before it sends anything: a file that only its owner can
 * read, or `-` to print it, which in CI is a log that others can read.
 */

import { closeSync, fchmodSync, fsyncSync, openSync, writeSync } from "node:fs";
import { CommandFault } from "../../command-line/command-fault.ts";
import { visible } from "../../command-line/write-table.ts";

export interface NewKey {
  kind: string;
  name: string;
  environment?: string | null;
  key: string;
}

export interface NewKeys {
  /** Throws a CommandFault if there is no place for a key. `why` completes the sentence. */
  check(why: string): void;
  /** The keys are kept, or printed, when it returns. Returns what to print below the step. */
  write(keys: readonly NewKey[]): string[];
}

/** `print` shows a line at once: what a step returns is only shown if all of it succeeds, and the server does not show a key again. */
export function createNewKeys(target: string | null, print: (line: string) => void): NewKeys {
  return {
    check(why) {
      if (target === null)
        throw new CommandFault(
          `${why}, which the server shows only once: name a file for it with --keys-to, such as --keys-to new-keys.json; - prints it.`,
        );
      if (target !== "-") append(target, "");
    },
    write(keys) {
      if (target === "-" || target === null) {
        for (const key of keys) print(keyLine(key));
        return [];
      }
      append(
        target,
        keys.map(({ kind, name, environment = null, key }) => `${JSON.stringify({ kind, name, environment, key })}\n`).join(""),
      );
      return keys.map(({ kind }) => `${kind} key: written to ${target}`);
    },
  };
}

function keyLine({ kind, name, environment = null, key }: NewKey): string {
  return `${kind} key "${visible(name)}"${environment === null ? "" : ` of ${environment}`}: ${key}`;
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
