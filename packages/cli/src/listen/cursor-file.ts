/** Saves the cursors in a file. The file is replaced atomically, so that a crash leaves either the old or the new one. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CommandFault } from "../command-line/command-fault.ts";

export interface CursorFile {
  read(key: string): string | null;
  write(key: string, cursor: string): void;
}

export function openCursorFile(file: string): CursorFile {
  const cursors = readCursors(file);
  return {
    read: (key) => cursors.get(key) ?? null,
    write(key, cursor) {
      if (cursors.get(key) === cursor) return;
      cursors.set(key, cursor);
      // Readable only by the owner, because payloads are private.
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}`;
      // Another listener may have written its own cursor in the meantime.
      const all = { ...Object.fromEntries(readCursors(file)), [key]: cursor };
      writeFileSync(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

function readCursors(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return new Map();
  }
  try {
    return new Map(Object.entries(JSON.parse(text) as Record<string, string>));
  } catch {
    throw new CommandFault(`${file} is not a state file of "inlet listen". Delete it, or set another file with --state.`);
  }
}
