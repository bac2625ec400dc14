/** Saves the cursors in a file. The file is replaced atomically, so that a crash leaves either the old or the new one. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CommandFault } from "../command-line/command-fault.ts";

export interface PlaceFile {
  read(key: string): string | null;
  write(key: string, place: string): void;
}

export function openPlaceFile(file: string): PlaceFile {
  const places = readPlaces(file);
  return {
    read: (key) => places.get(key) ?? null,
    write(key, place) {
      if (places.get(key) === place) return;
      places.set(key, place);
      // Readable only by the owner, because payloads are private.
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const draft = `${file}.${process.pid}`;
      // Another listener may have written its own cursor in the meantime.
      const all = { ...Object.fromEntries(readPlaces(file)), [key]: place };
      writeFileSync(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

function readPlaces(file: string): Map<string, string> {
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
