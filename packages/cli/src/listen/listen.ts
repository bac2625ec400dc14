/**
 * `inlet listen`: follows streams of a deployed service and posts copies to this machine, one at a time.
 * The cursor is saved after each delivered copy, so that no copy is ever skipped.
 */

import { ENVIRONMENT_HEADER, RESERVED_NAME_PREFIXES } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT, written } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { instant } from "../command-line/list-flags.ts";
import { memberText } from "../events/event-text.ts";
import { followStream } from "../rest/follow-stream.ts";
import { createRestClient, type RestCall, type RestClient } from "../rest/rest-client.ts";
import { retryWhileAway } from "../rest/retry-while-away.ts";
import { type CursorFile, openCursorFile } from "./cursor-file.ts";
import { type Delivered, deliver } from "./deliver.ts";
import { copyOf } from "./event-copy.ts";
import type { LISTEN_FLAGS } from "./listen-flags.ts";
import { createReporter, type Reporter } from "./listen-report.ts";
import { type RecordedRequest, reasonToSkip, requestCopy, seedHeader } from "./request-copy.ts";
import { chosenWebhooks, type ListenWebhook, refuseOwnSource, targetOf, webhookUrlAt } from "./webhook-targets.ts";

type Options = Call<typeof LISTEN_FLAGS>["options"];

interface Listening {
  rest: RestClient;
  options: Options;
  cursors: CursorFile;
  report: Reporter;
  signal: AbortSignal;
}

export async function listen({ options, io }: Call<typeof LISTEN_FLAGS>): Promise<CommandResult> {
  refuseContradictions(options);
  const beforehand = createRestClient(options);
  await refuseOwnSource(beforehand, options);
  const webhooks = options.webhooks || options.webhook.length > 0 ? await withTargets(beforehand, options) : null;
  const stop = new AbortController();
  const signal = AbortSignal.any([io.interrupted(), stop.signal]);
  const rest = createRestClient(options, signal);
  const listening = { rest, options, cursors: openCursorFile(options.state), report: createReporter(io, options), signal };
  const streams = webhooks ? webhooks.map(({ webhook, to }) => forwardRequests(listening, webhook, to)) : [forwardEvents(listening)];
  // If one stream fails, all are stopped, so that nothing is copied partially.
  await Promise.all(
    streams.map((stream) =>
      stream.catch((error) => {
        stop.abort();
        throw error;
      }),
    ),
  );
  return written();
}

/** Either events or raw requests are copied, and one of the flags would be without effect. */
function refuseContradictions({ events, webhooks, webhook }: Options): void {
  if (webhooks && webhook.length > 0) {
    throw contradiction("Use either --webhooks, for all webhooks, or --webhook, for those that you name, not both.");
  }
  if (events === null || (!webhooks && webhook.length === 0)) return;
  throw contradiction(
    `Use either --events, for events, or ${webhooks ? "--webhooks" : "--webhook"}, for raw requests, not both. To copy both, run two commands.`,
  );
}

function contradiction(sentence: string): CommandFault {
  return new CommandFault(sentence, "usage", EXIT.usage);
}

async function forwardEvents(listening: Listening): Promise<void> {
  const { options, report, signal } = listening;
  const target = targetOf(options);
  const call = { path: "/events/stream", query: { name: options.events } };
  for await (const { data, keep } of follow(listening, call, `events ${options.events ?? "*"}`)) {
    const text = await exactText(listening, data);
    if (signal.aborted) return;
    if (text === null) {
      keep();
      continue;
    }
    const copy = copyOf(text);
    if (target.isInlet && isOfTheService(copy.name)) {
      report.skipped(copy.name, copy.id, "an internal event");
      keep();
      continue;
    }
    const headers = [...copy.headers, ...(options.toEnv === null ? [] : [ENVIRONMENT_HEADER, options.toEnv])];
    const delivered = await deliver(
      { url: target.eventsUrl, headers, body: copy.body },
      { signal, isLater: target.isInlet ? isLater : undefined, onWait: report.waiting },
    );
    if (!delivered) return;
    report.forwarded(copy.name, copy.id, delivered);
    keep();
  }
}

async function withTargets(rest: RestClient, options: Options) {
  const webhooks = await chosenWebhooks(rest, options);
  return Promise.all(webhooks.map(async (webhook) => ({ webhook, to: await webhookUrlAt(options, webhook) })));
}

async function forwardRequests(listening: Listening, webhook: ListenWebhook, url: string): Promise<void> {
  const { report } = listening;
  const call = { path: `/webhooks/${encodeURIComponent(webhook.id)}/requests/stream` };
  for await (const { data, keep } of follow(listening, call, `webhook ${webhook.id}`)) {
    const record = JSON.parse(data) as RecordedRequest;
    const skipped = reasonToSkip(record);
    const delivered = skipped === null ? await postCopy(listening, url, record) : null;
    if (skipped === null && !delivered) return;
    if (delivered) report.forwarded(webhook.name, record.id, delivered);
    else report.skipped(webhook.name, record.id, skipped ?? "");
    keep();
  }
}

/** A copy that was sent before its cursor was saved is sent again. For Inlet it carries a seed that makes it the same event; an app gets the exact original. */
function postCopy({ options, report, signal }: Listening, url: string, record: RecordedRequest): Promise<Delivered | null> {
  const { query, headers, body } = requestCopy(record);
  const { isInlet } = targetOf(options);
  return deliver(
    { url, query, headers: isInlet ? [...headers, ...seedHeader(record)] : headers, body },
    { signal, isLater: isInlet ? isLater : undefined, onWait: report.waiting },
  );
}

/** The parts of a stream, from the saved cursor on. `keep` saves the cursor of a part. */
async function* follow({ rest, options, cursors, report, signal }: Listening, call: RestCall, what: string) {
  const key = [rest.base, options.env ?? "default", what, "to", options.to].join(" ");
  const kept = options.since === null ? cursors.read(key) : null;
  const query = { ...call.query, from: options.since === null ? null : instant(options.since) };
  report.following(what, kept !== null ? "from the saved cursor" : options.since === null ? "from now on" : `since ${options.since}`);
  const parts = followStream(
    rest,
    { ...call, query },
    {
      after: kept,
      signal,
      onConnection: report.connection,
      onCursor: (cursor) => cursors.write(key, cursor),
    },
  );
  for await (const { data, id } of parts) yield { data: data ?? "", keep: () => cursors.write(key, id ?? "") };
}

/** A stream cannot preserve line breaks in a payload, so the event is fetched separately. Null if it is gone, or if interrupted. */
async function exactText({ rest, report, signal }: Listening, streamed: string): Promise<string | null> {
  if (!streamed.includes("\n")) return streamed;
  const { id, name } = JSON.parse(streamed) as { id: string; name: string };
  try {
    const response = await retryWhileAway(() => rest.call({ path: `/events/${id}` }), { signal, onAway: report.retrying });
    return response && memberText(response.text, "data");
  } catch (error) {
    if (!(error instanceof CommandFault) || error.code !== "event_not_found") throw error;
    report.skipped(name, id, "it was removed");
    return null;
  }
}

/** The target creates internal events itself and refuses them from senders. */
function isOfTheService(name: string): boolean {
  return RESERVED_NAME_PREFIXES.some((prefix) => name.toLowerCase().startsWith(prefix));
}

function isLater(status: number): boolean {
  return status === 429 || status >= 500;
}
