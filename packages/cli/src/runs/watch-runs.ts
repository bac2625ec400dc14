/** `inlet runs watch`: follows one run until it ends, or all runs. */

import { type CommandResult, EXIT, written } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { statusText, visible } from "../command-line/write-table.ts";
import { onOneLine } from "../events/event-text.ts";
import { followState } from "../rest/follow-state.ts";
import { followStream } from "../rest/follow-stream.ts";
import { createRestClient } from "../rest/rest-client.ts";
import { retryWhileAway } from "../rest/retry-while-away.ts";
import { MissedRuns } from "./missed-runs.ts";
import { ENDED, errorText, type RunDetails, type RunFields, stepText } from "./run-text.ts";
import { callRun } from "./runs-commands.ts";
import type { WATCH_FLAGS } from "./runs-flags.ts";

const POLL_INTERVAL_MS = 300;

export function watchRuns(call: Call<typeof WATCH_FLAGS>): Promise<CommandResult> {
  const [id] = call.names;
  return id === undefined ? watchAll(call) : watchOne(call, id);
}

/** Polls: for a single run, only the current state matters. */
async function watchOne({ options, io }: Call<typeof WATCH_FLAGS>, id: string): Promise<CommandResult> {
  const printed = new Set<string>();
  const signal = io.interrupted();
  const rest = createRestClient(options, signal);
  const last = await followState({
    intervalMs: POLL_INTERVAL_MS,
    signal,
    read: () => callRun(rest, "GET", id),
    show({ run, text }) {
      for (const line of options.json ? [onOneLine(text)] : linesOf(run)) {
        if (!printed.has(line)) io.out.write(`${line}\n`);
        printed.add(line);
      }
    },
    hasEnded: ({ run }) => ENDED.has(run.status),
    onAway: (reason) => io.err.write(`${reason} The run continues there; waiting for it.\n`),
  });
  const isGood = !last || last.run.status === "completed" || !ENDED.has(last.run.status);
  return written(isGood ? EXIT.ok : EXIT.failed);
}

function linesOf(run: RunDetails): string[] {
  const steps = run.steps.map((step) => `  ${stepText(step)}`);
  const error = errorText(run.error);
  return [
    `${run.id}  ${run.function.id}`,
    ...steps,
    ...(ENDED.has(run.status) ? [`${statusText(run.status)}${error ? `  ${error}` : ""}`] : []),
  ];
}

/** After a disconnect, and where the stream has a gap, the lists tell which runs changed; each is printed in its current state. */
async function watchAll({ options, io }: Call<typeof WATCH_FLAGS>): Promise<CommandResult> {
  const signal = io.interrupted();
  const rest = createRestClient(options, signal);
  const missed = new MissedRuns(rest, options.function);
  const print = (run: RunFields, text: string) => io.out.write(`${options.json ? onOneLine(text) : changeLine(run)}\n`);
  const onAway = (reason: string) => io.err.write(`${reason} Retrying.\n`);
  const catchUp = async () => {
    const runs = await retryWhileAway(() => missed.sinceLastTime(), { signal, onAway });
    for (const run of runs ?? []) print(run, JSON.stringify(run));
  };
  const parts = followStream(
    rest,
    { path: "/runs/stream", query: { function: options.function } },
    {
      after: null,
      signal,
      onConnection: async (state, reason) => {
        if (state === "lost") return void io.err.write(`Disconnected: ${reason}. Reconnecting.\n`);
        // The stream is already open, so no change falls between the lists and the stream.
        await catchUp();
        if (signal.aborted) return;
        io.err.write(`Following runs of ${rest.base}. Press Ctrl-C to stop.\n`);
      },
    },
  );
  for await (const { event, data } of parts) {
    if (event === "gap") {
      await catchUp();
      continue;
    }
    const run = JSON.parse(data ?? "{}") as RunFields;
    // The lists had it already: they are read while the stream is open.
    if (missed.hasEnded(run.id)) continue;
    missed.note(run);
    print(run, data ?? "");
  }
  return written();
}

function changeLine({ id, status, function: { id: functionId }, event, cron, ...run }: RunFields): string {
  const at = run.endedAt ?? run.startedAt ?? run.createdAt;
  return [at.slice(11, 23), id, statusText(status), functionId, visible(event?.name ?? cron ?? "")].join("  ").trimEnd();
}
