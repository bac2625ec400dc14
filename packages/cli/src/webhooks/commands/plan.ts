/** `inlet webhooks plan`: shows what apply would do. */

import { stopOn } from "../../command-line/command-fault.ts";
import type { CommandResult } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { planResult } from "../../plan/write-plan.ts";
import { inEnvironment, readServer, refuseToPruneAll } from "../compare/both-sides.ts";
import { matchEntries } from "../compare/match-entries.ts";
import { checkTransforms } from "../fixtures/run-fixtures.ts";
import { readFolder } from "../folder/read-folder.ts";
import { withSecrets } from "../folder/secret-names.ts";
import { webhookKind } from "../webhook-kind.ts";
import { createWebhooksClient } from "../webhooks-client.ts";
import type { PLAN_FLAGS } from "../webhooks-flags.ts";

export async function planWebhooks({ options, io }: Call<typeof PLAN_FLAGS>): Promise<CommandResult> {
  const entries = withSecrets(inEnvironment(readFolder(options.dir), options), io.variables);
  refuseToPruneAll(entries, options);
  stopOn(await checkTransforms(entries));
  const environments = entries.length > 0 ? entries.map(({ environment }) => environment) : [options.env];
  const client = createWebhooksClient(options);
  const plan = makePlan(webhookKind(client), matchEntries(entries, await readServer(client, environments)), options);
  stopOn(plan.faults);
  return planResult(plan);
}
