/** The entries of a folder; null: there is none. */

import { type Dirent, readdirSync } from "node:fs";
import { CommandFault } from "./command-fault.ts";

export function listFolder(dir: string): Dirent[] | null {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    throw new CommandFault(code === "ENOTDIR" ? `${dir} is not a folder.` : `${dir} cannot be read: ${message}`);
  }
}
