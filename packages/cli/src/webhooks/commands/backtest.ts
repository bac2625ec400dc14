/** `inlet webhooks backtest`: runs a draft of a transform on recorded requests, beside the current one. Stores nothing. */

import { readFileSync } from "node:fs";
import { CommandFault } from "../../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import { styleText } from "../../command-line/terminal-text.ts";
import { indented } from "../../plan/step-lines.ts";
import { createRestClient } from "../../rest/rest-client.ts";
import { webhookId } from "../webhook-id.ts";
import type { BACKTEST_FLAGS } from "../webhooks-flags.ts";

type Change = "same" | "different" | "now_fails" | "now_works" | "still_fails";

interface Side {
  error?: { code: string; message: string };
}

interface BacktestedRequest {
  requestId: string;
  receivedAt: string;
  change: Change;
  before: Side;
  after: Side;
  diff: { path: string; before?: unknown; after?: unknown }[];
}

interface Backtest {
  version: number;
  summary: Record<Change, number>;
  requests: BacktestedRequest[];
}

const SHOWN: Readonly<Record<Change, string>> = {
  same: "same",
  different: "different",
  now_fails: "now fails",
  now_works: "now works",
  still_fails: "still fails",
};

/** Requests that the draft would refuse although the current transform accepts them are a failure. */
export async function backtestWebhook({ options, names }: Call<typeof BACKTEST_FLAGS>): Promise<CommandResult> {
  const transform = readDraft(options.file);
  const rest = createRestClient(options);
  const path = `/webhooks/${encodeURIComponent(await webhookId(rest, names[0] ?? ""))}/backtest`;
  const report = await rest.data<Backtest>({ method: "POST", path, body: { transform, limit: Number(options.limit) } });
  return { exitCode: report.summary.now_fails > 0 ? EXIT.failed : EXIT.ok, text: textOf(report), json: report };
}

function readDraft(file: string | null): string {
  if (file === null) throw new CommandFault("Name the file of the draft with --file, for example --file webhooks/stripe/transform.js.");
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandFault(`The draft cannot be read: ${(error as Error).message}.`);
  }
}

function textOf({ version, summary, requests }: Backtest): string {
  if (requests.length === 0) return "The webhook has no recorded requests to run the draft on.";
  const sums = Object.entries(SHOWN).map(([change, shown]) => `${summary[change as Change]} ${shown}`);
  const changed = requests.filter(({ change }) => change !== "same").flatMap(linesOf);
  return [
    ...changed,
    ...(changed.length > 0 ? [""] : []),
    `Against version ${version}, ${requests.length} requests: ${sums.join(", ")}.`,
  ].join("\n");
}

function linesOf({ requestId, receivedAt, change, after, diff }: BacktestedRequest): string[] {
  const colour = change === "now_fails" ? "red" : change === "now_works" ? "green" : "yellow";
  const reason = after.error ? [`${after.error.code}: ${after.error.message}`] : [];
  const fields = diff.map(({ path, before, after: value }) => `${path || "event"}: ${written(before)} -> ${written(value)}`);
  return [`${requestId} ${receivedAt} ${styleText(colour, SHOWN[change])}`, ...indented(2, [...reason, ...fields])];
}

function written(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
