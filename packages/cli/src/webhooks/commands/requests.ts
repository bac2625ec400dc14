/** `inlet webhooks list|requests|replay`: webhooks of the server, their requests, and replaying these. */

import type { CommandResult } from "../../command-line/command-result.ts";
import type { Call } from "../../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../../command-line/connection-flags.ts";
import { instant } from "../../command-line/list-flags.ts";
import { startJob } from "../../jobs/start-job.ts";
import { listResult } from "../../rest/list-result.ts";
import { createRestClient } from "../../rest/rest-client.ts";
import { webhookId } from "../webhook-id.ts";
import type { REPLAY_FLAGS, REQUESTS_FLAGS } from "../webhooks-flags.ts";

interface ShownWebhook {
  id: string;
  name: string;
  enabled: boolean;
  verify: { scheme: string } | null;
  state?: string;
  url: string;
}

interface ShownRequest {
  id: string;
  receivedAt: string;
  ip: string;
  outcome: string;
  eventId?: string;
  error?: string;
}

export async function listWebhooks({ options, io }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const { items } = await createRestClient(options).list<ShownWebhook>({ path: "/webhooks" });
  const rows = items.map((webhook) => [webhook.id, webhook.name, webhook.enabled ? "yes" : "no", verification(webhook), webhook.url]);
  return listResult({ headings: ["ID", "NAME", "ENABLED", "VERIFY", "URL"], rows, empty: "No webhooks." }, items, null, io);
}

function verification({ verify, state }: ShownWebhook): string | null {
  if (!verify) return null;
  return state === "waiting_for_secret" ? `${verify.scheme}, waiting for its secret` : verify.scheme;
}

export async function listRequests({ options, names, io }: Call<typeof REQUESTS_FLAGS>): Promise<CommandResult> {
  const { outcome, from, to, limit, cursor } = options;
  const query = { outcome, from: from && instant(from), to: to && instant(to), cursor };
  const rest = createRestClient(options);
  const path = `/webhooks/${encodeURIComponent(await webhookId(rest, names[0] ?? ""))}/requests`;
  const { items, next } = await rest.list<ShownRequest>({ path, query }, Number(limit));
  const rows = items.map(({ id, receivedAt, ip, outcome: result, eventId, error }) => [
    id,
    receivedAt,
    ip,
    result,
    eventId ?? error ?? null,
  ]);
  const headings = ["ID", "RECEIVED", "IP", "OUTCOME", "EVENT OR ERROR"];
  return listResult({ headings, rows, empty: "No requests match." }, items, next, io);
}

export async function replayRequests({ options, names, io }: Call<typeof REPLAY_FLAGS>): Promise<CommandResult> {
  const { outcome, from, to, rate, yes, dryRun } = options;
  const webhook = await webhookId(createRestClient(options), names[0] ?? "");
  const given = { webhook, outcome, from: from && instant(from), to: to && instant(to) };
  const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const question = (total: number) => `Send ${total} request${total === 1 ? "" : "s"} through the current transform again?`;
  return startJob(options, { kind: "requests.replay", filter, rate, yes, dryRun, question }, io);
}
