/**
 * `inlet webhooks apply`: executes the steps of the plan in order and records the ids of created webhooks.
 *
 * Nothing is sent before every file is read, every transform parses and every fixture passes. If a step fails, the steps
 * before it remain and are printed. Running the command again continues from there.
 */

import { writeFileSync } from "node:fs";
import { CommandFault, stopOn } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { inEnvironment, readServer, refuseToPruneAll } from "../compare/both-sides.ts";
import { COMPARED_FIELDS, type ComparedField } from "../compare/changed-fields.ts";
import { makePlan, type Plan, type PlanStep } from "../compare/make-plan.ts";
import type { ServerWebhook } from "../compare/server-webhook.ts";
import { planJson, stepJson, stepLines } from "../compare/write-plan.ts";
import { checkTransforms, hasFailed, runFixtures } from "../fixtures/run-fixtures.ts";
import type { Entry } from "../folder/entry.ts";
import { readFolder, readText } from "../folder/read-folder.ts";
import { settingToSend, withSecrets } from "../folder/secret-names.ts";
import { withId } from "../folder/webhook-file.ts";
import { createWebhooksClient, type WebhookFields, type WebhooksClient } from "../webhooks-client.ts";
import type { APPLY_FLAGS } from "../webhooks-flags.ts";
import { indented } from "../write-difference.ts";
import { fixturesResult } from "./test.ts";

interface Done {
  step: PlanStep;
  /** The current state on the server; null if deleted. */
  webhook: ServerWebhook | null;
}

interface Applied {
  done: Done[];
  failure: CommandFault | null;
}

export async function applyWebhooks({ options, io }: Call<typeof APPLY_FLAGS>): Promise<CommandResult> {
  const entries = withSecrets(inEnvironment(readFolder(options.dir), options), io.variables);
  refuseToPruneAll(entries, options);
  const tested = await checkFirst(entries, options);
  if (tested && tested.exitCode !== EXIT.ok) return tested;

  const client = createWebhooksClient(options);
  const lists = await readServer(
    client,
    entries.map(({ environment }) => environment),
  );
  const plan = makePlan(entries, lists, options);
  stopOn(plan.faults);
  // Before anything is sent: a missing variable stops the whole command.
  for (const step of plan.steps) valuesOf(step);
  for (const { entry, webhook } of plan.unchanged) if (webhook) recordId(entry, webhook);
  return result(plan, await takeSteps(client, plan.steps));
}

/** The failed fixtures as the command's result, or null if all passed. */
async function checkFirst(entries: readonly Entry[], { skipTests }: { skipTests: boolean }): Promise<CommandResult | null> {
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

async function takeSteps(client: WebhooksClient, steps: readonly PlanStep[]): Promise<Applied> {
  const done: Done[] = [];
  for (const step of steps) {
    try {
      const webhook = await takeStep(client, step);
      done.push({ step: settled(step, webhook), webhook });
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error;
      return { done, failure: inStep(step, error) };
    }
  }
  return { done, failure: null };
}

/** After creation, the name of the server's default environment is known. */
function settled(step: PlanStep, webhook: ServerWebhook | null): PlanStep {
  if (step.action !== "create" || !webhook) return step;
  return { action: "create", entry: { ...step.entry, environment: webhook.environment } };
}

async function takeStep(client: WebhooksClient, step: PlanStep): Promise<ServerWebhook | null> {
  if (step.action === "delete") {
    await client.remove(step.webhook);
    return null;
  }
  const { entry } = step;
  const values = valuesOf(step);
  const webhook =
    step.action === "create"
      ? await client.create(entry.environment, values as unknown as WebhookFields)
      : await client.change(step.webhook, values);
  recordId(entry, webhook);
  return webhook;
}

/** The fields to send, with the values of secrets instead of their names. */
function valuesOf(step: PlanStep): Partial<WebhookFields> {
  if (step.action === "delete") return {};
  const { entry } = step;
  const fields =
    step.action === "create" ? COMPARED_FIELDS.filter((field) => entry[field] !== null) : step.changes.map(({ field }) => field);
  const mayWait = step.action === "create" || isWaiting(step.webhook);
  const toSend = (field: ComparedField) =>
    field === "verify" || field === "handshake" ? settingToSend(entry, field, { mayWait }) : entry[field];
  return Object.fromEntries(fields.map((field) => [field, toSend(field)]));
}

function isWaiting({ state }: ServerWebhook): boolean {
  return state === "waiting_for_secret";
}

/** An existing id is never replaced, because it may belong to another server. */
function recordId({ id, files }: Entry, webhook: ServerWebhook): void {
  if (id !== null) return;
  const text = readText(files.webhook);
  if (text !== null) writeFileSync(files.webhook, withId(text, webhook.id));
}

function inStep(step: PlanStep, { lines, code }: CommandFault): CommandFault {
  const where = step.action === "delete" ? `"${step.webhook.name}"` : step.entry.files.folder;
  return new CommandFault(
    lines.map((line) => `${where}: ${line}`),
    code,
  );
}

function result(plan: Plan, { done, failure }: Applied): CommandResult {
  const lines = done.flatMap((item) => [
    ...stepLines(item.step, "done"),
    ...indented(
      4,
      urlOf(item).map((url) => `url: ${url}`),
    ),
    "",
  ]);
  const waiting = [
    ...done.flatMap(({ step, webhook }) => (webhook && step.action !== "delete" ? waitingLine(step.entry, webhook) : [])),
    ...plan.unchanged.flatMap(({ entry, webhook }) => (webhook ? waitingLine(entry, webhook) : [])),
  ];
  const total = `${done.length} of ${plan.steps.length} changes applied, ${plan.unchanged.length} unchanged.`;
  return {
    exitCode: failure ? EXIT.failed : EXIT.ok,
    text: [...lines, ...(failure ? [...failure.lines.map((line) => `failed: ${line}`), ""] : []), ...waiting, total].join("\n"),
    json: {
      applied: done.map((item) => ({
        ...stepJson(item.step),
        ...(item.webhook && { id: item.webhook.id, state: item.webhook.state }),
        url: urlOf(item)[0],
      })),
      failure: failure && { error: failure.message, code: failure.code },
      unchanged: planJson(plan).unchanged,
    },
  };
}

/** The one command that completes a webhook without a secret. */
function waitingLine({ name, verify }: Entry, webhook: ServerWebhook): string[] {
  if (!isWaiting(webhook)) return [];
  const variable = verify?.secrets?.[0];
  const command = variable === undefined ? "set verify.secrets" : `${variable}=… inlet webhooks apply`;
  return [
    `"${name}" waits for its secret: requests are recorded and refused until then. Enter the URL at the provider, then: ${command}`,
    "",
  ];
}

/** The URL is a secret, so it is printed only for a new webhook. */
function urlOf({ step, webhook }: Done): string[] {
  return step.action === "create" && webhook ? [webhook.url] : [];
}
