/**
 * Where Chromium is: the one in CHROMIUM_PATH, or the one from npm, which is for Linux x64. Null on other platforms without the variable:
 * the installed Chrome is used.
 */

import chromium from "@sparticuz/chromium";

/** Unpacks the one from npm when it is first asked for, into the folder for temporary files. Only one process may do that. */
export async function chromiumPath(): Promise<string | null> {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  return chromium.executablePath();
}
