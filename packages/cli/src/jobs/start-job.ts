/** Starts a job with confirmation: counts its items and shows some of them, asks, and shows its progress. */

import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { JobView } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Io } from "../command-line/command-row.ts";
import { visible } from "../command-line/write-table.ts";
import { type Connection, createRestClient, LONG_TIMEOUT_MS } from "../rest/rest-client.ts";
import { jobText } from "./jobs-commands.ts";
import { followJob } from "./watch-job.ts";

export interface StartedJob {
  kind: string;
  filter: Readonly<Record<string, unknown>>;
  rate: string | null;
  yes: boolean;
  /** Nothing is started. */
  dryRun: boolean;
  /** The action, as in "Rerun 12 runs?". */
  question(total: number): string;
}

interface Preview {
  total: number;
  samples: Sample[];
}

/** A run or a request, by the fields it has. */
interface Sample {
  id: string;
  function?: { id: string };
  outcome?: string;
  error?: { name: string; message: string } | string | null;
  event?: { preview: string } | null;
}

export async function startJob(connection: Connection, job: StartedJob, io: Io): Promise<CommandResult> {
  const client = createRestClient(connection);
  const body = { kind: job.kind, filter: job.filter, ...(job.rate !== null && { rate: Number(job.rate) }) };
  const request = { method: "POST", path: "/jobs" };
  // Answered once all items are counted.
  const preview = await client.data<Preview>({ ...request, body: { ...body, dryRun: true }, timeoutMs: LONG_TIMEOUT_MS });
  const { total } = preview;
  if (total === 0) return { exitCode: EXIT.ok, text: "Nothing matches.", json: preview };
  if (job.dryRun) return { exitCode: EXIT.ok, text: `${previewText(preview)}\nNothing was done.`, json: preview };
  if (!job.yes && !(await confirmed(preview, job.question(total), io))) {
    return { exitCode: EXIT.failed, text: "Nothing was done.", json: { total } };
  }
  const started = await client.data<JobView>({ ...request, body });
  const ended = (await followJob(connection, started.id, io)) ?? started;
  const isGood = ended.endedAt === null || ended.status === "completed";
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: jobText(ended), json: ended };
}

function previewText({ total, samples }: Preview): string {
  const lines = samples.map(({ id, function: fn, outcome, error, event }) => {
    const fault = typeof error === "string" ? error : error && `${error.name}: ${error.message}`;
    return `  ${[id, fn?.id ?? outcome, fault ?? event?.preview]
      .filter(Boolean)
      .map((text) => visible(String(text)))
      .join("  ")}`;
  });
  const others = total - samples.length;
  return [`${total} match${total === 1 ? "es" : ""}:`, ...lines, ...(others > 0 ? [`  and ${others} more`] : [])].join("\n");
}

async function confirmed(preview: Preview, question: string, io: Io): Promise<boolean> {
  if (!io.stdin.isTTY) throw new CommandFault(`${question} Standard input is not a terminal: confirm with --yes.`, "usage", EXIT.usage);
  io.err.write(`${previewText(preview)}\n`);
  const lines = createInterface({ input: io.stdin, output: io.err, terminal: false });
  // The end of the input, such as Ctrl-D, answers no question.
  const closed = once(lines, "close").then(() => "");
  const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
