/** Requests that a provider sends to the webhook. */

import type { EdgeResponse } from "../apps/own-app.ts";
import type { SecretNote } from "../journal-notes.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimHookRequest } from "./deeds.ts";
import { type DeedParts, RESEND_MS } from "./doing.ts";
import { isPassing } from "./offers.ts";
import { itemOf } from "./reconciliations.ts";
import { TRANSFORM_FAILED } from "./transforms.ts";

export const TOKEN = "whk_simulated";
export const SECRET_HEADER = "x-secret";
/** One in so many senders is slow to learn of a new secret. */
const SLOW_SENDERS = 4;

/**
 * Until it is accepted, always with the same id, or refused by a transform that is broken. Its provider lists it from the first attempt on;
 * without an id, once it was accepted: what is being received has no id by which a pass could know it.
 */
export async function deliver(parts: DeedParts, request: SimHookRequest): Promise<void> {
  const { ask, journal } = parts;
  const { afterMs, name, n, isLost, hasId } = request;
  await pass(afterMs);
  const item = itemOf(request);
  if (isLost || hasId) journal.listed.push(item);
  if (isLost) return;
  let isTold = n % SLOW_SENDERS !== 0;
  let timesMax = 1;
  for (;;) {
    const secret = (isTold ? journal.secrets.at(-1) : journal.secrets[0]) as SecretNote;
    const sentAt = now();
    const headers = { "content-type": "application/json", [SECRET_HEADER]: secret.text };
    const answer = await ask(`/e/${TOKEN}`, { headers, body: item.body }).catch(() => null);
    const isRefused = await isRefusedByTransform(parts, answer, sentAt);
    if (isRefused || answer?.status === 200) {
      if (sentAt > secret.revokedAt + journal.tellingMs) journal.fault(`request ${n} was accepted with a secret that was replaced`);
      journal.delivered.push({ n, name, isLost, hasId, isRefused, timesMax });
      if (!isRefused && !hasId && timesMax === 1) journal.listed.push(item);
      return;
    }
    // It may have been stored, and nothing tells it apart from the next one.
    if (!answer && !hasId) timesMax++;
    if (answer?.status === 401) {
      isTold = true;
      if (now() < secret.revokeAskedAt) journal.fault(`request ${n} was refused with a secret that works: ${await answer.text()}`);
    } else if (answer && !isPassing(parts, answer.status)) journal.fault(`request ${n} was refused: ${await answer.text()}`);
    await pass(RESEND_MS);
  }
}

/** While the transform is broken, nothing is accepted. */
async function isRefusedByTransform({ journal }: DeedParts, answer: EdgeResponse | null, sentAt: number): Promise<boolean> {
  const { repairAskedAt, repairedAt } = journal.transform;
  if (answer?.status === 200 && now() < repairAskedAt) journal.fault("a request was accepted whose transform fails");
  return answer?.status === 400 && sentAt <= repairedAt && (await answer.text()).includes(`"${TRANSFORM_FAILED}"`);
}
