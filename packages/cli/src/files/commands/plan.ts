/** `inlet plan`: shows what apply would do. */

import { stopOn } from "../../command-line/command-fault.ts";
import type { CommandResult } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { planResult } from "../../plan/write-plan.ts";
import { checkTransforms } from "../../webhooks/fixtures/run-fixtures.ts";
import type { PLAN_FLAGS } from "../files-flags.ts";
import { createNewKeys } from "../kinds/new-keys.ts";
import { planFolder, readFolderFor } from "../plan-folder.ts";

export async function plan({ options, io }: Call<typeof PLAN_FLAGS>): Promise<CommandResult> {
  const folder = await readFolderFor(options, io.variables);
  stopOn(await checkTransforms(folder.entries));
  // A plan creates no keys that could be printed.
  const newKeys = createNewKeys(null, () => undefined);
  const planned = await planFolder(folder, newKeys);
  stopOn(planned.faults);
  return planResult(planned);
}
