/** A webhook whose requests carry a secret, which is replaced meanwhile, and whose events are mirrored to a branch environment. */

import type { WebhookId } from "@inlet/protocol";
import { NO_SECRETS } from "../../../src/store/contract/index.ts";
import type { SecretNote } from "../journal.ts";
import type { Random } from "../random.ts";
import { BRANCH, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimHook } from "./deeds.ts";
import { type DeedParts, KEYS, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";
import { isPassing } from "./offers.ts";

/** Their events are numbered from here on. */
const FIRST_N = 40_000;
const REQUESTS = 20;
const ID = "wh_simulated" as WebhookId;
const TOKEN = "whk_simulated";
const SECRET_HEADER = "x-secret";
/** One in so many senders is slow to learn of a new secret. */
const SLOW_SENDERS = 4;

export function generateHooks(random: Random, functions: readonly SimFunction[]): SimHook[] {
  if (random.chance(0.7)) return [];
  const name = random.pick(functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : [])));
  return [
    {
      atMs: random.int(1, SPAN_MS / 3),
      rotateAfterMs: random.int(1, SPAN_MS / 3),
      overlapMs: random.pick([0, 5, 2_000]),
      requests: Array.from({ length: REQUESTS }, (_, index) => ({
        afterMs: random.int(0, SPAN_MS / 2),
        name,
        key: random.int(0, KEYS - 1),
        n: FIRST_N + index,
      })),
    },
  ];
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

export async function useHook(parts: DeedParts, { requests, rotateAfterMs, overlapMs }: SimHook): Promise<void> {
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
  await pass(parts.tellingMs);
  journal.noteSecret("secret 1");
  await Promise.all([rotate(parts, rotateAfterMs, overlapMs), ...requests.map((request) => deliver(parts, request))]);
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
  await pass(parts.tellingMs);
  parts.journal.noteSecret("secret 2");
  await pass(overlapMs);
  old.revokeAskedAt = now();
  await set(["secret 2"]);
  old.revokedAt = now();
}

/** Until it is accepted, always with the same id. */
async function deliver(parts: DeedParts, { afterMs, name, key, n }: SimHook["requests"][number]): Promise<void> {
  const { ask, journal, tellingMs } = parts;
  const body = JSON.stringify({ name, id: `hook ${n}`, data: { k: key, n } });
  await pass(afterMs);
  let isTold = n % SLOW_SENDERS !== 0;
  for (;;) {
    const secret = (isTold ? journal.secrets.at(-1) : journal.secrets[0]) as SecretNote;
    const sentAt = now();
    const headers = { "content-type": "application/json", [SECRET_HEADER]: secret.text };
    const answer = await ask(`/e/${TOKEN}`, { headers, body }).catch(() => null);
    if (answer?.status === 200) {
      if (sentAt > secret.revokedAt + tellingMs) journal.fault(`request ${n} was accepted with a secret that was replaced`);
      journal.delivered.push({ n, name });
      return;
    }
    if (answer?.status === 401) {
      isTold = true;
      if (now() < secret.revokeAskedAt) journal.fault(`request ${n} was refused with a secret that works: ${await answer.text()}`);
    } else if (answer && !isPassing(parts, answer.status)) journal.fault(`request ${n} was refused: ${await answer.text()}`);
    await pass(RESEND_MS);
  }
}
