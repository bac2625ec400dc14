/**
 * A webhook of all branches gets requests for one of them, and is drilled there with these as samples. With ids of their own, copies of them make
 * no second event; without, each does, and the report says so.
 */

import { DRILL_KINDS, type WebhookId } from "@inlet/protocol";
import { type Environment, NO_SECRETS } from "../../../src/store/contract/index.ts";
import type { DrillNote } from "../journal-notes.ts";
import type { Operated } from "../process.ts";
import type { Random } from "../random.ts";
import { BRANCH, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimDrill } from "./deeds.ts";
import { type DeedParts, KEYS, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";
import { isPassing } from "./offers.ts";
import { sourceOf } from "./transforms.ts";

export const DRILL_KIND = "webhooks.drill";
export const DRILLED_EVENT = "d/0";
const FIRST_N = 60_000;
const ID = "wh_drilled" as WebhookId;
const TOKEN = "whk_drilled";
const SECRET_HEADER = "x-drill-secret";
const SECRET = "secret of drills";

export function generateDrills(random: Random): SimDrill[] {
  if (random.chance(0.8)) return [];
  const kinds = () => (random.chance(0.5) ? DRILL_KINDS : DRILL_KINDS.filter(() => random.chance(0.5)));
  return [
    {
      atMs: random.int(1, SPAN_MS),
      requests: Array.from({ length: random.int(1, 3) }, (_, index) => ({ key: random.int(0, KEYS - 1), n: FIRST_N + index })),
      hasIds: random.chance(0.6),
      kinds: Array.from({ length: random.int(1, 2) }, kinds).filter(({ length }) => length > 0),
    },
  ];
}

export function drilledFunctions(random: Random): SimFunction[] {
  const run = (id: string) => ({ kind: "run", id, fails: random.pick([0, 0, 1, 99]), error: "plain", tookMs: random.int(0, 60) }) as const;
  const code = { kind: "sequence", parts: [run("run0"), { kind: "sleep", id: "sleep1", ms: 1_000 }, run("run2")] } as const;
  const trigger = { event: DRILLED_EVENT, onlyOdd: false };
  return [{ id: "d0", sdk: "mirror", trigger, retries: 1, code, onFailure: false, cancelOn: null, flow: {} }];
}

export async function drill(parts: DeedParts, { requests, hasIds, kinds }: SimDrill): Promise<void> {
  await untilDone(parts, create);
  await pass(parts.journal.tellingMs);
  const times = await Promise.all(requests.map((request) => send(parts, request, hasIds)));
  for (const [index, { n }] of requests.entries()) parts.journal.drilled.push({ n, hasId: hasIds, timesMax: times[index] ?? 1 });
  for (const some of kinds) await drillOnce(parts, parts.journal.noteDrill(some));
}

async function create({ store, directory }: Operated): Promise<void> {
  const [shared] = (await store.environmentList()).filter(({ kind }) => kind === "shared");
  if (!shared) throw new Error("there is no scope of all branches");
  const isThere = (await store.webhookList()).some(({ id }) => id === ID);
  const rules = { eventNames: null, ips: null, handshake: null, answer: null, enabled: true, createdAt: now() };
  const verify = { scheme: "header", toleranceSeconds: 300, header: SECRET_HEADER } as const;
  const settings = { transform: sourceOf("whole"), verify, reconcile: null, mirror: null, secrets: { ...NO_SECRETS, verify: [SECRET] } };
  if (!isThere) await store.webhookInsert({ id: ID, environmentId: shared.id, name: "drilled", token: TOKEN, ...rules, ...settings });
  await directory.refresh();
}

/** Until it is accepted. How often it may be stored. */
async function send(parts: DeedParts, { key, n }: SimDrill["requests"][number], hasId: boolean): Promise<number> {
  const body = JSON.stringify({ name: DRILLED_EVENT, ...(hasId && { id: `drilled ${n}` }), data: { k: key, n } });
  const headers = { "content-type": "application/json", "x-service-env": BRANCH, [SECRET_HEADER]: SECRET };
  for (let timesMax = 1; ; ) {
    const answer = await parts.ask(`/e/${TOKEN}`, { headers, body }).catch(() => null);
    if (answer?.status === 200) return timesMax;
    if (!answer && !hasId) timesMax++;
    if (answer && !isPassing(parts, answer.status)) parts.journal.fault(`request ${n} was refused: ${await answer.text()}`);
    await pass(RESEND_MS);
  }
}

/** Once, to its end: whether it was begun is not known where the service goes away. */
async function drillOnce(parts: DeedParts, note: DrillNote): Promise<void> {
  const homeOf = ({ directory }: Operated) => directory.environmentNamed(BRANCH) as Environment;
  const begun = parts.nextNode().operate(async (at) => {
    const filter = { webhook: ID, environment: BRANCH, kinds: note.kinds };
    note.jobId = (await at.jobs.create(homeOf(at), { kind: DRILL_KIND, filter })).id;
  });
  await begun.catch(() => undefined);
  for (let isOver = note.jobId === null; !isOver; ) {
    await pass(RESEND_MS);
    await untilDone(parts, async (at) => {
      const job = await at.store.jobGet({ environmentId: homeOf(at).id, id: note.jobId as NonNullable<DrillNote["jobId"]> });
      isOver = !job || job.endedAt !== null;
    });
  }
}
