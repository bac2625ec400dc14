/** Starts a job with confirmation: counts its items, asks, and shows its progress. */

import { createInterface } from "node:readline/promises";
import type { JobView } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Io } from "../command-line/command-row.ts";
import { type Connection, createRestClient } from "../rest/rest-client.ts";
import { jobText } from "./jobs-commands.ts";
import { followJob } from "./watch-job.ts";

export interface StartedJob {
  kind: string;
  filter: Readonly<Record<string, unknown>>;
  rate: string | null;
  yes: boolean;
  /** The action, as in "Rerun 12 runs?". */
  question(total: number): string;
}

export async function startJob(connection: Connection, job: StartedJob, io: Io): Promise<CommandResult> {
  const client = createRestClient(connection);
  const body = { kind: job.kind, filter: job.filter, ...(job.rate !== null && { rate: Number(job.rate) }) };
  const { total } = await client.data<{ total: number }>({ method: "POST", path: "/jobs", body: { ...body, dryRun: true } });
  if (total === 0) return { exitCode: EXIT.ok, text: "Nothing matches.", json: { total } };
  if (!job.yes && !(await confirmed(job.question(total), io))) {
    return { exitCode: EXIT.failed, text: "Nothing was done.", json: { total } };
  }
  const started = await client.data<JobView>({ method: "POST", path: "/jobs", body });
  const ended = await followJob(connection, started.id, io);
  const isGood = ended.endedAt === null || ended.status === "completed";
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: jobText(ended), json: ended };
}

async function confirmed(question: string, io: Io): Promise<boolean> {
  if (!io.stdin.isTTY) throw new CommandFault(`${question} Standard input is not a terminal: confirm with --yes.`, "usage", EXIT.usage);
  const lines = createInterface({ input: io.stdin, output: io.err });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
