/** The flags of `inlet backup` and `inlet restore`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

const DATA_DIR = { type: "string", placeholder: "folder", variable: "INLET_DATA_DIR", fallback: ".inlet" } as const;

export const BACKUP_FLAGS = {
  to: { type: "string", placeholder: "file", sentence: "File to write. It must not exist." },
  "data-dir": { ...DATA_DIR, sentence: "Data folder to back up; a service may be using it." },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;

export const RESTORE_FLAGS = {
  from: { type: "string", placeholder: "file", sentence: "File written by `inlet backup`." },
  "data-dir": { ...DATA_DIR, sentence: "Folder to restore into. It must be empty or not exist." },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;
