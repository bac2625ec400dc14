/** A webhook whose requests carry a secret, which is replaced meanwhile, and whose events are mirrored to a branch environment. */

import type { WebhookId } from "@inlet/protocol";
import { NO_SECRETS } from "../../../src/store/contract/index.ts";
import type { SecretNote } from "../journal-notes.ts";
import type { Random } from "../random.ts";
import { BRANCH, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimHook, SimHookRequest } from "./deeds.ts";
import { type DeedParts, KEYS, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";
import { isPassing } from "./offers.ts";
import { itemOf, reconcile, reconcileAll } from "./reconciliations.ts";

/** Their events are numbered from here on. */
const FIRST_N = 40_000;
const REQUESTS = 20;
const ID = "wh_simulated" as WebhookId;
const TOKEN = "whk_simulated";
const SECRET_HEADER = "x-secret";
/** One in so many senders is slow to learn of a new secret. */
const SLOW_SENDERS = 4;

/** `isRemoving`: what was received without an id is not known for ever. */
export function generateHooks(
  random: Random,
  functions: readonly SimFunction[],
  { isReconciled = true, isRemoving = false } = {},
): SimHook[] {
  if (random.chance(0.7)) return [];
  const name = random.pick(functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : [])));
  return [
    {
      atMs: random.int(1, SPAN_MS / 3),
      rotateAfterMs: random.int(1, SPAN_MS / 3),
      overlapMs: random.pick([0, 5, 2_000]),
      requests: Array.from({ length: REQUESTS }, (_, index) =>
        generateRequest(random, name, FIRST_N + index, { lost: isReconciled ? 0.3 : 0, withoutId: isReconciled && !isRemoving ? 0.3 : 0 }),
      ),
      reconciledAfterMs: Array.from({ length: isReconciled ? random.pick([0, 1, 3]) : 0 }, () => random.int(0, SPAN_MS / 2)),
    },
  ];
}

function generateRequest(random: Random, name: string, n: number, shares: { lost: number; withoutId: number }): SimHookRequest {
  const isLost = random.chance(shares.lost);
  const hasId = !random.chance(isLost ? 0.5 : shares.withoutId);
  return { afterMs: random.int(0, SPAN_MS / 2), name, key: random.int(0, KEYS - 1), n, isLost, hasId };
}

/** What the copies start: there, nothing else arrives. */
export function mirroredFunctions(random: Random, hooks: readonly SimHook[]): SimFunction[] {
  const event = hooks[0]?.requests[0]?.name;
  if (event === undefined) return [];
  const run = (id: string) => ({ kind: "run", id, fails: random.pick([0, 0, 1, 99]), error: "plain", tookMs: random.int(0, 60) }) as const;
  const parts = [run("run0"), { kind: "sleep", id: "sleep1", ms: 1_000 } as const, run("run2")];
  const code = { kind: "sequence", parts } as const;
  return [{ id: "m0", sdk: "mirror", trigger: { event, onlyOdd: false }, retries: 1, code, onFailure: false, cancelOn: null, flow: {} }];
}

export async function useHook(parts: DeedParts, { requests, rotateAfterMs, overlapMs, reconciledAfterMs }: SimHook): Promise<void> {
  const { journal } = parts;
  await untilDone(parts, async ({ store, directory, environment: { id: environmentId } }) => {
    const isThere = (await store.webhookList()).some(({ id }) => id === ID);
    const rules = { eventNames: null, ips: null, handshake: null, answer: null, enabled: true, createdAt: now() };
    const verify = { scheme: "header", toleranceSeconds: 300, header: SECRET_HEADER } as const;
    const settings = { verify, reconcile: null, mirror: { to: [BRANCH], sample: 1 }, secrets: { ...NO_SECRETS, verify: ["secret 1"] } };
    if (!isThere)
      await store.webhookInsert({ id: ID, environmentId, name: "provider", token: TOKEN, transform: "", ...rules, ...settings });
    await directory.refresh();
  });
  await pass(parts.journal.tellingMs);
  journal.noteSecret("secret 1");
  await Promise.all([
    rotate(parts, rotateAfterMs, overlapMs),
    ...requests.map((request) => deliver(parts, request)),
    ...reconciledAfterMs.map((afterMs) => pass(afterMs).then(() => reconcile(parts, ID))),
  ]);
  if (requests.some(({ isLost }) => isLost)) await reconcileAll(parts, ID, requests);
}

/** Both work for a while. */
async function rotate(parts: DeedParts, afterMs: number, overlapMs: number): Promise<void> {
  const [old] = parts.journal.secrets as [SecretNote];
  const set = (verify: string[]) =>
    untilDone(parts, async ({ store, directory, environment: { id: environmentId } }) => {
      await store.webhookUpdate({ environmentId, id: ID, changes: { secrets: { verify } }, updatedAt: now() });
      await directory.refresh();
    });
  await pass(afterMs);
  await set(["secret 1", "secret 2"]);
  await pass(parts.journal.tellingMs);
  parts.journal.noteSecret("secret 2");
  await pass(overlapMs);
  old.revokeAskedAt = now();
  await set(["secret 2"]);
  old.revokedAt = now();
}

/**
 * Until it is accepted, always with the same id. Its provider lists it from the first attempt on; without an id, once it was accepted: what
 * is being received has no id by which a pass could know it.
 */
async function deliver(parts: DeedParts, request: SimHookRequest): Promise<void> {
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
    if (answer?.status === 200) {
      if (sentAt > secret.revokedAt + journal.tellingMs) journal.fault(`request ${n} was accepted with a secret that was replaced`);
      journal.delivered.push({ n, name, isLost, timesMax });
      if (!hasId && timesMax === 1) journal.listed.push(item);
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
