/** `inlet env move`. */

import type { JobView } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { followJob } from "../jobs/watch-job.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { MOVE_FLAGS } from "./environments-flags.ts";

export async function moveEnvironment({ options, names, io }: Call<typeof MOVE_FLAGS>): Promise<CommandResult> {
  const [name = ""] = names;
  const { to } = options;
  if (to === null)
    throw new CommandFault('--to is missing: the name of the database. "inlet databases list" shows them.', "usage", EXIT.usage);
  const connection = { ...options, env: name };
  const path = `/environments/${encodeURIComponent(name)}/move`;
  const started = await createRestClient({ ...options, env: null }).data<JobView>({ method: "POST", path, body: { database: to } });
  const job = (options.detach ? null : await followJob(connection, started.id, io)) ?? started;
  const isGood = job.endedAt === null || job.status === "completed";
  return { exitCode: isGood ? EXIT.ok : EXIT.failed, text: resultText(name, to, job), json: job };
}

function resultText(name: string, to: string, { id, status, endedAt, total, errors }: JobView): string {
  if (endedAt === null) return `${name} is being moved to ${to}. To follow its progress, run "inlet jobs watch ${id} --env ${name}".`;
  if (status === "completed") return `Moved ${name} to ${to}: ${total} rows.`;
  return [
    `${name} stays where it was: the move was ${status === "failed" ? "not possible" : status}.`,
    ...errors.map(({ message }) => message),
  ].join("\n");
}
