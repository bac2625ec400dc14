/**
 * `inlet webhooks apply`: takes the steps of the plan in order and records the ids of created webhooks.
 *
 * Nothing is sent before every file is read, every transform parses and every fixture passes.
 */

import { stopOn } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { createProgressBar } from "../../command-line/progress-bar.ts";
import { applyPlan } from "../../plan/apply-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { inEnvironment, readServer, refuseToPruneAll } from "../compare/both-sides.ts";
import { matchEntries } from "../compare/match-entries.ts";
import { checkTransforms, hasFailed, runFixtures } from "../fixtures/run-fixtures.ts";
import type { Entry } from "../folder/entry.ts";
import { readFolder } from "../folder/read-folder.ts";
import { withSecrets } from "../folder/secret-names.ts";
import { webhookKind } from "../webhook-kind.ts";
import { createWebhooksClient } from "../webhooks-client.ts";
import type { APPLY_FLAGS } from "../webhooks-flags.ts";
import { fixturesResult } from "./test.ts";

export async function applyWebhooks({ options, io }: Call<typeof APPLY_FLAGS>): Promise<CommandResult> {
  const entries = withSecrets(inEnvironment(readFolder(options.dir), options), io.variables);
  refuseToPruneAll(entries, options);
  const failed = await failedFixtures(entries, options);
  if (failed) return failed;
  const client = createWebhooksClient(options);
  const lists = await readServer(
    client,
    entries.map(({ environment }) => environment),
  );
  return applyPlan(makePlan(webhookKind(client), matchEntries(entries, lists), options), createProgressBar(io.err));
}

/** The failed fixtures as the command's result, or null if all passed. */
export async function failedFixtures(entries: readonly Entry[], { skipTests }: { skipTests: boolean }): Promise<CommandResult | null> {
  if (skipTests) {
    stopOn(await checkTransforms(entries));
    return null;
  }
  const reports = await runFixtures(entries);
  stopOn(reports.flatMap(({ fault }) => fault ?? []));
  const failed = reports.filter(hasFailed);
  if (failed.length === 0) return null;
  const { text, json } = fixturesResult(failed);
  return {
    exitCode: EXIT.failed,
    text: `${text}\nNothing was sent to the server. Use --skip-tests to apply anyway.`,
    json: { applied: [], failure: "fixtures failed", fixtures: json },
  };
}
