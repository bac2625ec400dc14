/** `inlet webhooks plan`: shows what apply would do. */

import { stopOn } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { inEnvironment, readServer, refuseToPruneAll } from "../compare/both-sides.ts";
import { makePlan } from "../compare/make-plan.ts";
import { planJson, planText } from "../compare/write-plan.ts";
import { checkTransforms } from "../fixtures/run-fixtures.ts";
import { readFolder } from "../folder/read-folder.ts";
import { withSecrets } from "../folder/secret-names.ts";
import { createWebhooksClient } from "../webhooks-client.ts";
import type { PLAN_FLAGS } from "../webhooks-flags.ts";

export async function planWebhooks({ options, io }: Call<typeof PLAN_FLAGS>): Promise<CommandResult> {
  const entries = withSecrets(inEnvironment(readFolder(options.dir), options), io.variables);
  refuseToPruneAll(entries, options);
  stopOn(await checkTransforms(entries));
  const environments = entries.length > 0 ? entries.map(({ environment }) => environment) : [options.env];
  const plan = makePlan(entries, await readServer(createWebhooksClient(options), environments), options);
  stopOn(plan.faults);
  return { exitCode: plan.steps.length > 0 ? EXIT.differs : EXIT.ok, text: planText(plan), json: planJson(plan) };
}
