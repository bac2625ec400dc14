/**
 * Creates a folder, and those above it. Node's own `recursive` never returns where the system reports that a folder above is missing
 * although it exists, as below /proc: here each is created once, so that the fault is reported.
 */

import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = resolve(folder); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
  // Another process may create one at the same time.
  for (const one of missing) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
}
