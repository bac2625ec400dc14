/** What a provider lists of the requests that it has sent or tried to send, and passes that compare it with what was received. */

import type { WebhookId } from "@inlet/protocol";
import { RECONCILE_KIND } from "../../../src/jobs/kinds/reconcile-webhook.ts";
import type { ListedItem } from "../../../src/reconcile/listed-item.ts";
import type { Operated } from "../process.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimHookRequest } from "./deeds.ts";
import { type DeedParts, RESEND_MS } from "./doing.ts";
import { untilEnded } from "./jobs.ts";

/** As its provider lists it. */
export function itemOf({ name, key, n, hasId }: SimHookRequest): ListedItem {
  const body = JSON.stringify({ name, ...(hasId && { id: `hook ${n}` }), data: { k: key, n } });
  return { body, headers: [["Content-Type", "application/json"]], id: `item ${n}` };
}

/** One pass, to its end. True: it took in all that was listed when it began. */
export async function reconcile(parts: DeedParts, id: WebhookId): Promise<boolean> {
  const note = parts.journal.noteJob(RECONCILE_KIND, null);
  const order = async ({ reconciliation, directory }: Operated) => {
    const webhook = directory.webhooks().find((one) => one.id === id);
    if (!webhook) throw new Error("the webhook is not known here yet");
    return (await reconciliation.order(webhook, { since: 0, until: now() })).id;
  };
  const jobId = await parts
    .nextNode()
    .operate(order)
    .catch(() => null);
  if (jobId === null) return false;
  note.id = jobId;
  const { status, failed, errors } = await untilEnded(parts, jobId);
  return status === "completed" && failed === 0 && errors.length === 0;
}

/** Until a pass has taken in everything: then, what was never delivered counts as received. */
export async function reconcileAll(parts: DeedParts, id: WebhookId, requests: readonly SimHookRequest[]): Promise<void> {
  while (!(await reconcile(parts, id))) await pass(RESEND_MS);
  for (const { n, name, isLost, hasId } of requests)
    if (isLost) parts.journal.delivered.push({ n, name, isLost, hasId, isRefused: false, timesMax: 1 });
}
