/**
 * `inlet apply`: makes the server match the folder, one object after the other.
 *
 * Nothing is sent before every file is read, every transform parses, every fixture passes and there is a place for new keys. A command
 * that was interrupted is run again: what is done already is found as it should be.
 */

import type { CommandResult } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { createProgressBar } from "../../command-line/progress-bar.ts";
import { applyPlan } from "../../plan/apply-plan.ts";
import { failedFixtures } from "../../webhooks/commands/apply.ts";
import type { APPLY_FLAGS } from "../files-flags.ts";
import { createNewKeys } from "../kinds/new-keys.ts";
import { planFolder, readFolderFor } from "../plan-folder.ts";

export async function apply({ options, io }: Call<typeof APPLY_FLAGS>): Promise<CommandResult> {
  const folder = await readFolderFor(options, io.variables);
  const failed = await failedFixtures(folder.entries, options);
  if (failed) return failed;
  const bar = createProgressBar(io.err);
  const newKeys = createNewKeys(options.keysTo, (line) => {
    bar.clear();
    // With --json, standard output is one JSON document.
    (options.json ? io.err : io.out).write(`${line}\n`);
  });
  return applyPlan(await planFolder(folder, newKeys), bar);
}
