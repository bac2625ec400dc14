/** Writes the folder of a new webhook. It gets its name once all of its files are there, so that no killed command leaves a part of one. */

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandFault } from "../../command-line/command-fault.ts";

const TAKEN: ReadonlySet<string | undefined> = new Set(["ENOTEMPTY", "EEXIST", "EPERM", "ENOTDIR"]);

/** `texts` by the names of the files. */
export function makeEntry(folder: string, texts: Readonly<Record<string, string>>): void {
  // Folders whose names begin with a dot are ignored.
  const draft = join(dirname(folder), `.${basename(folder)}-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    for (const [file, text] of Object.entries(texts)) writeFileSync(join(draft, file), text, { flag: "wx" });
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!TAKEN.has((error as NodeJS.ErrnoException).code)) throw error;
    throw new CommandFault(`${folder} was made by another command in the meantime. Run this one again.`);
  }
}
