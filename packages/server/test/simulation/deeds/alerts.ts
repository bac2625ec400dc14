/** An alert rule about the failed runs of a function, which is disabled for a while, and deleted in the end. */

import { removeAlertRule } from "../../../src/api/alerts/alerts-routes.ts";
import type { AlertRuleFields } from "../../../src/store/contract/index.ts";
import type { AlertNote, SpanNote } from "../journal-notes.ts";
import type { Operated } from "../process.ts";
import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimAlert } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

/** Of functions that fail now and then. */
export function generateAlerts(random: Random, functions: readonly SimFunction[]): SimAlert[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => ({
    atMs: random.int(1, SPAN_MS),
    forMs: random.pick([SPAN_MS / 2, 3 * SPAN_MS]),
    fn: random.pick(functions).id,
    threshold: random.pick([1, 1, 2, 4]),
    windowMs: random.pick([10_000, 60_000, 600_000]),
    ...(random.chance(0.3) && { disabledForMs: random.pick([1_000, SPAN_MS]) }),
  }));
}

export async function watchFailures(parts: DeedParts, { fn: id, threshold, windowMs, forMs, disabledForMs }: SimAlert): Promise<void> {
  const fn = parts.scenario.functions.find((candidate) => candidate.id === id);
  if (!fn) return;
  const note = parts.journal.noteAlert({ functionId: fullId(fn), threshold, windowMs });
  const fields = fieldsOf(note);
  note.askedAt = now();
  await untilDone(parts, (at) => create(at, note.id, fields));
  note.setAt = now();
  await pass(forMs / 2);
  if (disabledForMs !== undefined) await disable(parts, note, fields, disabledForMs);
  await pass(forMs / 2);
  note.endAskedAt = now();
  await untilDone(parts, (at) => remove(at, note.id));
  note.endedAt = now();
}

function fieldsOf({ functionId, threshold, windowMs }: AlertNote): AlertRuleFields {
  const subject = { functionId, webhookId: null, eventName: null };
  return { name: "failures", kind: "failure_count", ...subject, threshold, windowMs, quietHours: null, isEnabled: true };
}

/** One that is there already is not created twice. */
async function create({ store, environment: { id: environmentId } }: Operated, id: string, fields: AlertRuleFields): Promise<void> {
  if (await isThere(store, id)) return;
  const at = now();
  const state = { createdAt: at, updatedAt: at, raisedAt: null, lastRaisedAt: null, value: null, changes: 0 };
  await store.alertRuleInsert({ id, environmentId, ...fields, ...state });
}

async function disable(parts: DeedParts, note: AlertNote, fields: AlertRuleFields, forMs: number): Promise<void> {
  const set = (isEnabled: boolean) =>
    untilDone(parts, async ({ store, environment: { id: environmentId } }) => {
      await store.alertRuleUpdate({ ...fields, environmentId, id: note.id, isEnabled, updatedAt: now() });
    });
  const disabled: SpanNote = { askedAt: now(), setAt: now(), endAskedAt: now(), endedAt: now() };
  note.disabled = disabled;
  await set(false);
  disabled.setAt = now();
  await pass(forMs);
  disabled.endAskedAt = now();
  await set(true);
  disabled.endedAt = now();
}

async function remove({ store, alerts, environment }: Operated, id: string): Promise<void> {
  if (await isThere(store, id)) await removeAlertRule({ store, alerts }, environment, id);
}

async function isThere(store: Operated["store"], id: string): Promise<boolean> {
  return (await store.alertRuleList()).some((rule) => rule.id === id);
}
