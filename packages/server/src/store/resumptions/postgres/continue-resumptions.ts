/** Continues with what is left of matching events with waits, in PostgreSQL. One node at a time works on an event name. */

import {
  LOOKING_BACK_MAX,
  type ResumptionKey,
  type ResumptionPart,
  type ResumptionStore,
  WAITS_PER_PART_MAX,
  type WaitRules,
} from "../../contract/index.ts";
import { eventsAt } from "../../events/postgres/select-events.ts";
import type { Database } from "../../postgres/database.ts";
import { resumptionLock } from "../../postgres/locks.ts";
import { type Notices, PendingWrites } from "../../postgres/pending-writes.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { seenEvent } from "../../waits/policy.ts";
import { eventsAfter } from "../../waits/postgres/look-back.ts";
import { matchWaits } from "../../waits/postgres/match-waits.ts";
import { type ArrivedEvent, endWaits, waitKeysOf } from "../../waits/postgres/resume-runs.ts";
import { findWaits, lockWaits, noteLookedBack, waitPaths, waitsLookingBack } from "../../waits/postgres/waits.ts";
import type { FoundWait } from "../../waits/rows.ts";
import { isWaitPending, listResumptions, nextResumption, noteResumption } from "./resumptions.ts";

export interface ContinueResumptionsParts {
  database: Database;
  rules: WaitRules;
  notify(notices: Notices): void;
  watch(listener: () => void): () => void;
}

/** One bounded transaction. */
interface Part {
  writes: PendingWrites;
  rules: WaitRules;
  allocation: LeaseAllocation;
  eventName: string;
}

export function resumptionStore({ database, rules, notify, watch }: ContinueResumptionsParts): ResumptionStore {
  return {
    resumptionList: ({ limit }) => listResumptions(database, limit),
    async resumptionContinue({ environmentId, eventName, now }) {
      const { notices, ...result } = await database.transaction(async (client) => {
        const writes = new PendingWrites(client, environmentId);
        const part = await proceed({ writes, rules, allocation: new LeaseAllocation(now, undefined), eventName });
        await writes.settle();
        return { ...part, notices: writes.notices };
      });
      notify(notices);
      return result;
    },
    waitIsPending: (params) => isWaitPending(database, params),
    resumptionWatch: watch,
  };
}

async function proceed(part: Part): Promise<ResumptionPart> {
  const { writes, eventName } = part;
  if (!(await isOurs(writes, { environmentId: writes.environmentId, eventName }))) return { isOurs: false, waits: 0, isDone: true };
  let examined = await lookBack(part);
  while (examined < WAITS_PER_PART_MAX) {
    const waits = await resume(part);
    if (waits === null) return { isOurs: true, waits: examined, isDone: (await waitsLookingBack(writes, eventName, 1)).length === 0 };
    // An event counts even if nothing waits for it any more, so that the transaction is bounded.
    examined += Math.max(waits, 1);
  }
  return { isOurs: true, waits: examined, isDone: false };
}

async function isOurs(writes: PendingWrites, key: ResumptionKey): Promise<boolean> {
  const lock = resumptionLock(key.environmentId, key.eventName).toString();
  const [row] = await writes.rows<{ is_ours: boolean }>("SELECT pg_try_advisory_xact_lock($1::bigint) AS is_ours", lock);
  return row?.is_ours === true;
}

/** Returns how many waits looked back; none: all have examined every event. */
async function lookBack({ writes, rules, allocation, eventName }: Part): Promise<number> {
  const found = await waitsLookingBack(writes, eventName, LOOKING_BACK_MAX);
  if (found.length === 0) return 0;
  const open = await lockWaits(
    writes,
    found.map(({ no }) => no),
  );
  const looking = found.filter(({ no }) => open.has(no));
  const [first] = looking;
  if (!first) return found.length;
  const { events, isEnd } = await eventsAfter(writes, eventName, first.looked);
  const last = events.at(-1);
  noteLookedBack(writes, looking, last && !isEnd ? { at: last.receivedAt, no: last.sequence } : null);
  const seen = events.map((event): ArrivedEvent => ({ ...event, allocation }));
  const { matches, starts } = await matchWaits<FoundWait, ArrivedEvent>(writes, rules, [{ waits: looking, seen }]);
  await endWaits(writes, matches, starts);
  return looking.length;
}

/** Returns how many waits the oldest event of the name examined; null: there is no such event. */
async function resume({ writes, rules, allocation, eventName }: Part): Promise<number | null> {
  const next = await nextResumption(writes, eventName);
  if (!next) return null;
  const { eventSequence, after } = next;
  // An event that was erased ends nothing.
  const event = (await eventsAt(writes.read, writes.environmentId, [eventSequence])).get(eventSequence);
  const keys = event ? waitKeysOf(event, await waitPaths(writes, [eventName]), rules) : [];
  const found = await findWaits(writes, keys, { after, limit: WAITS_PER_PART_MAX });
  const waits = found.sort((one, other) => one.no - other.no).slice(0, WAITS_PER_PART_MAX);
  noteResumption(writes, eventName, eventSequence, waits.length === WAITS_PER_PART_MAX ? (waits.at(-1)?.no ?? null) : null);
  if (!event) return 0;
  const seen: ArrivedEvent[] = [{ ...seenEvent(event), allocation }];
  const { matches, starts } = await matchWaits<FoundWait, ArrivedEvent>(writes, rules, [{ waits, seen }]);
  await endWaits(writes, matches, starts);
  return waits.length;
}
