/** Tests a release as a new user would. Prints a line per check, and fails if one of them did. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Release } from "../build-release.ts";
import { type Check, Unavailable } from "./check.ts";
import { checkGuides } from "./check-guides.ts";
import { checkImage, checkImageContext } from "./check-image.ts";
import { checkInstalls } from "./check-installs.ts";
import { checkRuntimes } from "./check-runtimes.ts";
import { checkTypes } from "./check-types.ts";
import { openToolbox } from "./toolbox.ts";

/** Resolves with whether all checks passed. `only`: checks whose name contains it. */
export async function checkRelease(release: Release, only = ""): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-check-"));
  try {
    const toolbox = await openToolbox(folder);
    const checks = [
      ...checkInstalls(release, toolbox),
      ...checkRuntimes(release, toolbox),
      checkTypes(release, toolbox),
      checkImageContext(release, toolbox),
      checkImage(release),
      ...checkGuides(toolbox),
    ];
    const results: Result[] = [];
    for (const check of checks.filter(({ name }) => name.includes(only))) results.push(await report(check));
    const count = (result: Result) => results.filter((one) => one === result).length;
    console.log(`${count("ok")} checks passed, ${count("skip")} skipped, ${count("FAIL")} failed.`);
    return count("FAIL") === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Result = "ok" | "skip" | "FAIL";

async function report({ name, unavailable, run }: Check): Promise<Result> {
  const startedAt = performance.now();
  try {
    const reason = unavailable?.() ?? null;
    if (reason === null) await run();
    console.log(reason ? `skip  ${name}: ${reason}` : `ok    ${name} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
    return reason ? "skip" : "ok";
  } catch (error) {
    if (error instanceof Unavailable) {
      console.log(`skip  ${name}: ${error.message}`);
      return "skip";
    }
    console.log(`FAIL  ${name}\n${error instanceof Error ? error.message : error}`);
    return "FAIL";
  }
}
