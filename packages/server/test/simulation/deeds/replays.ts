/** Recorded requests of the webhook are replayed, one by somebody or all of them by a job. */

import { Refusal, type WebhookId } from "@inlet/protocol";
import type { WebhookRequest } from "../../../src/store/contract/index.ts";
import type { JobNote } from "../journal-notes.ts";
import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimReplay } from "./deeds.ts";
import { type DeedParts, RESEND_MS, SPAN_MS } from "./doing.ts";
import { cancelJob, untilEnded } from "./jobs.ts";
import { isPassing } from "./offers.ts";
import { TRANSFORM_FAILED } from "./transforms.ts";

export const REPLAY_KIND = "requests.replay";
const ACCEPTED = "accepted";
const PAGE = 100;

export function generateReplays(random: Random): SimReplay[] {
  return Array.from({ length: random.pick([0, 1, 3]) }, () => ({
    afterMs: random.int(0, SPAN_MS),
    pick: random.chance(0.7) ? random.int(0, 99) : null,
    ...(random.chance(0.3) && { cancelAfterMs: random.pick([0, 100, 500]) }),
  }));
}

export async function replay(parts: DeedParts, id: WebhookId, { pick, cancelAfterMs }: SimReplay): Promise<void> {
  if (pick !== null) return replayOne(parts, id, pick);
  const note = await startReplay(parts, id, ACCEPTED);
  if (note && cancelAfterMs !== undefined) await cancelJob(parts, note, cancelAfterMs);
}

/** Until a job has replayed all that a transform refused. */
export async function replayRefused(parts: DeedParts, webhook: WebhookId): Promise<void> {
  for (;;) {
    const note = await startReplay(parts, webhook, TRANSFORM_FAILED);
    const job = note?.id ? await untilEnded(parts, note.id) : null;
    if (job?.status === "completed" && job.failed === 0) return;
    await pass(RESEND_MS);
  }
}

/** Once: whether it was made is not known where the service goes away. */
async function startReplay({ nextNode, journal }: DeedParts, webhook: WebhookId, outcome: string): Promise<JobNote | null> {
  const asked = nextNode().operate(async ({ jobs, environment }) => {
    const note = journal.noteJob(REPLAY_KIND, null);
    note.id = (await jobs.create(environment, { kind: REPLAY_KIND, filter: { webhook, outcome } })).id;
    return note;
  });
  return asked.catch(() => null);
}

/** Once. What was accepted can be replayed, whatever became of its secret. */
async function replayOne(parts: DeedParts, webhookId: WebhookId, pick: number): Promise<void> {
  const { nextNode, journal } = parts;
  const done = nextNode().operate(async ({ store, directory, replay, environment: { id: environmentId } }) => {
    const { requests } = await store.webhookRequestList({ environmentId, webhookId, outcome: ACCEPTED, limit: PAGE });
    const record = requests[pick % requests.length];
    const webhook = directory.webhooks().find(({ id }) => id === webhookId);
    if (!record || !webhook) return;
    const note = journal.noteReplay(numberOf(record));
    const sentAt = now();
    const answer = await replay(record, webhook);
    if (answer instanceof Refusal) {
      note.outcome = "refused";
      const isBroken = answer.code === TRANSFORM_FAILED && sentAt <= journal.transform.repairedAt;
      if (!isBroken && !isPassing(parts, answer.status)) journal.fault(`request ${note.n} could not be replayed: ${answer.message}`);
    } else if ("ids" in answer) note.outcome = { eventId: answer.ids[0] ?? "" };
  });
  await done.catch(() => undefined);
}

/** Of the event that the request describes. */
export function numberOf({ body }: WebhookRequest): number {
  return (JSON.parse(body ?? "null") as { data: { n: number } } | null)?.data.n ?? 0;
}
