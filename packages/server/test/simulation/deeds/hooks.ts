/**
 * A webhook whose requests carry a secret, which is replaced meanwhile, and whose events are mirrored to a branch environment. Its transform may
 * be broken at first.
 */

import type { WebhookId } from "@inlet/protocol";
import { NO_SECRETS, type WebhookChanges } from "../../../src/store/contract/index.ts";
import type { SecretNote } from "../journal-notes.ts";
import type { Random } from "../random.ts";
import { BRANCH, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimHook, SimHookRequest } from "./deeds.ts";
import { deliver, SECRET_HEADER, TOKEN } from "./deliveries.ts";
import { type DeedParts, KEYS, SPAN_MS, untilDone } from "./doing.ts";
import { reconcile, reconcileAll } from "./reconciliations.ts";
import { generateReplays, replay, replayRefused } from "./replays.ts";
import { BROKEN_TRANSFORM, generateTransform, sourceOf } from "./transforms.ts";

/** Their events are numbered from here on. */
const FIRST_N = 40_000;
const REQUESTS = 20;
const ID = "wh_simulated" as WebhookId;

/** `isWide`: with reconciliation, transforms and replays. `isRemoving`: what was received without an id is not known for ever. */
export function generateHooks(random: Random, functions: readonly SimFunction[], { isWide = true, isRemoving = false } = {}): SimHook[] {
  if (random.chance(0.7)) return [];
  const name = random.pick(functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : [])));
  return [
    {
      atMs: random.int(1, SPAN_MS / 3),
      rotateAfterMs: random.int(1, SPAN_MS / 3),
      overlapMs: random.pick([0, 5, 2_000]),
      requests: Array.from({ length: REQUESTS }, (_, index) =>
        generateRequest(random, name, FIRST_N + index, { lost: isWide ? 0.3 : 0, withoutId: isWide && !isRemoving ? 0.3 : 0 }),
      ),
      reconciledAfterMs: Array.from({ length: isWide ? random.pick([0, 1, 3]) : 0 }, () => random.int(0, SPAN_MS / 2)),
      ...(isWide && generateTransform(random)),
      ...(isWide && !isRemoving && { replays: generateReplays(random) }),
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

export async function useHook(parts: DeedParts, hook: SimHook): Promise<void> {
  const { journal } = parts;
  const { requests, rotateAfterMs, overlapMs, reconciledAfterMs, replays = [] } = hook;
  await create(parts, hook);
  await pass(parts.journal.tellingMs);
  journal.noteSecret("secret 1");
  const deliveries = Promise.all(requests.map((request) => deliver(parts, request)));
  await Promise.all([
    deliveries,
    rotate(parts, rotateAfterMs, overlapMs),
    repair(parts, hook, deliveries),
    ...reconciledAfterMs.map((afterMs) => pass(afterMs).then(() => reconcile(parts, ID))),
    ...replays.map((one) => pass(one.afterMs).then(() => replay(parts, ID, one))),
  ]);
  if (requests.some(({ isLost }) => isLost)) await reconcileAll(parts, ID, requests);
}

async function create(parts: DeedParts, { transform: name, brokenForMs }: SimHook): Promise<void> {
  await untilDone(parts, async ({ store, directory, environment: { id: environmentId } }) => {
    const isThere = (await store.webhookList()).some(({ id }) => id === ID);
    const rules = { eventNames: null, ips: null, handshake: null, answer: null, enabled: true, createdAt: now() };
    const verify = { scheme: "header", toleranceSeconds: 300, header: SECRET_HEADER } as const;
    const settings = { verify, reconcile: null, mirror: { to: [BRANCH], sample: 1 }, secrets: { ...NO_SECRETS, verify: ["secret 1"] } };
    const transform = brokenForMs === undefined ? sourceOf(name) : BROKEN_TRANSFORM;
    if (!isThere) await store.webhookInsert({ id: ID, environmentId, name: "provider", token: TOKEN, transform, ...rules, ...settings });
    await directory.refresh();
  });
}

/** When every node has the new transform and all requests were answered, those that the broken one refused are replayed. */
async function repair(parts: DeedParts, { brokenForMs, transform }: SimHook, deliveries: Promise<unknown>): Promise<void> {
  if (brokenForMs === undefined) return;
  const { journal } = parts;
  journal.transform = { repairAskedAt: Number.POSITIVE_INFINITY, repairedAt: Number.POSITIVE_INFINITY };
  await pass(brokenForMs);
  journal.transform.repairAskedAt = now();
  await change(parts, { transform: sourceOf(transform) });
  await pass(journal.tellingMs);
  journal.transform.repairedAt = now();
  await deliveries;
  await replayRefused(parts, ID);
}

/** Both work for a while. */
async function rotate(parts: DeedParts, afterMs: number, overlapMs: number): Promise<void> {
  const [old] = parts.journal.secrets as [SecretNote];
  const set = (verify: string[]) => change(parts, { secrets: { verify } });
  await pass(afterMs);
  await set(["secret 1", "secret 2"]);
  await pass(parts.journal.tellingMs);
  parts.journal.noteSecret("secret 2");
  await pass(overlapMs);
  old.revokeAskedAt = now();
  await set(["secret 2"]);
  old.revokedAt = now();
}

async function change(parts: DeedParts, changes: WebhookChanges): Promise<void> {
  await untilDone(parts, async ({ store, directory, environment: { id: environmentId } }) => {
    await store.webhookUpdate({ environmentId, id: ID, changes, updatedAt: now() });
    await directory.refresh();
  });
}
