/**
 * Compares another commit with this checkout: the programs of both are started on this machine and driven in turn by the load generator
 * of this checkout. Only HTTP and the flags of the command line are relied on, so their insides may differ in everything.
 */

import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Checkout, checkOutBase, ownName, ROOT } from "./base-checkout.ts";
import { PARTS, type PartOptions } from "./compare-parts.ts";
import type { Pair } from "./compare-sides.ts";
import { type Compared, comparedTable, markdown } from "./compare-table.ts";
import { keep, written } from "./report.ts";
import { sourceSize } from "./source-size.ts";

export interface CompareOptions extends PartOptions {
  base: string;
  /** Names of PARTS; absent: all. */
  only: string[] | undefined;
}

/** False if a part could not be measured. */
export async function benchCompare(options: CompareOptions): Promise<boolean> {
  const unknown = options.only?.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`there is no part "${unknown}", only ${Object.keys(PARTS).join(", ")}`);
  const base = checkOutBase(options.base);
  try {
    console.log(`old: ${base.name}, new: ${ownName()}`);
    tellLoad("before");
    console.log(`${sizeTable(base)}\n`);
    const programs = { old: programOf(base.folder), new: programOf(ROOT) };
    const { rows, failed } = await measure(programs, options);
    console.log(comparedTable(rows));
    tellLoad("afterwards");
    keep("compare", rows);
    return !failed;
  } finally {
    base.remove();
  }
}

/** On a machine that others keep busy even the ratios are guesses. */
function tellLoad(when: string): void {
  console.log(`load of the machine ${when}: ${loadavg().map(written).join(", ")} on ${cpus().length} cores\n`);
}

/** A part that cannot be measured leaves the others their figures. */
async function measure(programs: Pair<string>, options: CompareOptions): Promise<{ rows: Compared[]; failed: boolean }> {
  const rows: Compared[] = [];
  let failed = false;
  for (const [name, part] of Object.entries(PARTS)) {
    if (options.only && !options.only.includes(name)) continue;
    console.error(`measuring: ${name}`);
    try {
      rows.push(...(await part(programs, options)));
    } catch (error) {
      failed = true;
      console.error(`${name} could not be measured: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { rows, failed };
}

function programOf(folder: string): string {
  return join(folder, "packages/cli/bin/inlet.js");
}

function sizeTable(base: Checkout): string {
  const [old, newer] = [sourceSize(base.folder), sourceSize(ROOT)];
  const line = (what: string, name: keyof typeof old) => [what, String(old[name]), String(newer[name]), String(newer[name] - old[name])];
  return markdown([
    ["packages/*/src, without tests", "old", "new", "difference"],
    line("lines", "lines"),
    line("files", "files"),
    line("exported names", "exportedNames"),
  ]);
}
