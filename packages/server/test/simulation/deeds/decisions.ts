/** People decide approvals that are open, and two of them may do so at once. */

import type { DecisionNote } from "../journal-notes.ts";
import type { Random } from "../random.ts";
import { removes } from "../scenario.ts";
import { now } from "../virtual-time.ts";
import type { SimDecision } from "./deeds.ts";
import { type DeedParts, SPAN_MS } from "./doing.ts";

const DECISIONS = ["approved", "rejected"] as const;
const LISTED = 20;

export function generateDecisions(random: Random, starts: number): SimDecision[] {
  return Array.from({ length: Math.ceil(starts / 4) }, () => ({
    atMs: random.int(1, SPAN_MS * 1.5),
    pick: random.int(0, 99),
    decision: random.pick(DECISIONS),
    hasRival: random.chance(0.5),
  }));
}

/** Once: whether it was done is not known where the service goes away. */
export async function decideSome(parts: DeedParts, { pick, decision, hasRival }: SimDecision): Promise<void> {
  const listed = parts.nextNode().operate(async ({ store, environment: { id: environmentId } }) => {
    const { approvals } = await store.approvalList({ environmentId, now: now(), status: "open", limit: LISTED });
    return approvals[pick % Math.max(approvals.length, 1)];
  });
  const approval = await listed.catch(() => undefined);
  if (!approval) return;
  const other = DECISIONS.find((one) => one !== decision) ?? decision;
  await Promise.all([decision, ...(hasRival ? [other] : [])].map((made) => decide(parts, approval.id, made)));
}

export async function decide({ scenario, journal, nextNode }: DeedParts, id: string, decision: DecisionNote["decision"]): Promise<void> {
  const note = journal.noteDecision(id, decision);
  const made = { decision, by: note.by, comment: null, data: JSON.stringify({ no: note.no }) };
  const done = nextNode().operate(async ({ functions, environment }) => {
    const { outcome } = await functions.approvals.decide(environment.id, id, made);
    note.outcome = outcome === "decided" ? "decided" : "ended";
    // Retention may have removed it.
    if (outcome === "unknown" && !removes(scenario)) journal.fault(`approval ${id} is not known`);
  });
  await done.catch(() => undefined);
}
