/** Continues with what is left of matching events with waits, in SQLite. */

import {
  LOOKING_BACK_MAX,
  type ResumptionKey,
  type ResumptionPart,
  type ResumptionStore,
  WAITS_PER_PART_MAX,
} from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { RunStates } from "../../runs/sqlite/run-state.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import { seenEvent } from "../../waits/policy.ts";
import type { ResumeRuns } from "../../waits/sqlite/resume-runs.ts";
import type { Waits } from "../../waits/sqlite/waits.ts";
import type { Resumptions } from "./resumptions.ts";

export interface ContinueResumptionsParts {
  writer: GroupCommit;
  waits: Waits;
  states: RunStates;
  resumeRuns: ResumeRuns;
  resumptions: Resumptions;
}

export function resumptionStore({ writer, waits, states, resumeRuns, resumptions }: ContinueResumptionsParts): ResumptionStore {
  /** Returns how many waits looked back; none: all have examined every event. */
  function lookBack(allocation: LeaseAllocation, { environmentId, eventName }: ResumptionKey): number {
    const looking = waits.lookingBack(environmentId, eventName, LOOKING_BACK_MAX);
    const [first] = looking;
    if (!first) return 0;
    const { events, isEnd } = states.eventsAfter(environmentId, eventName, first.looked);
    const last = events.at(-1);
    const reached = last && !isEnd ? { at: last.receivedAt, no: last.sequence } : null;
    for (const wait of looking) if (isBehind(wait.looked, reached)) waits.noteLookedBack(wait, reached);
    resumeRuns.endMatching(allocation, looking, events);
    return looking.length;
  }

  /** Returns how many waits the oldest event of the name examined; null: there is no such event. */
  function resume(allocation: LeaseAllocation, key: ResumptionKey): number | null {
    const next = resumptions.next(key);
    if (!next) return null;
    const { eventSequence, after } = next;
    // An event that was erased ends nothing.
    const [event] = states.events([eventSequence]);
    const found = event ? resumeRuns.candidates(key.environmentId, event, { after, limit: WAITS_PER_PART_MAX }) : [];
    if (event) resumeRuns.endMatching(allocation, found, [seenEvent(event)]);
    resumptions.note(key, eventSequence, found.length === WAITS_PER_PART_MAX ? (found.at(-1)?.no ?? null) : null);
    return found.length;
  }

  function proceed({ now, ...key }: ResumptionKey & { now: number }): ResumptionPart {
    const allocation = new LeaseAllocation(now, undefined);
    let examined = lookBack(allocation, key);
    while (examined < WAITS_PER_PART_MAX) {
      const waitsOfEvent = resume(allocation, key);
      if (waitsOfEvent === null)
        return { isOurs: true, waits: examined, isDone: waits.lookingBack(key.environmentId, key.eventName, 1).length === 0 };
      // An event counts even if nothing waits for it any more, so that the transaction is bounded.
      examined += Math.max(waitsOfEvent, 1);
    }
    return { isOurs: true, waits: examined, isDone: false };
  }

  return {
    resumptionList: ({ limit }) => writer.submit(() => resumptions.list(limit)),
    resumptionContinue: (params) => writer.submit(() => proceed(params)),
    waitIsPending: ({ runNo, stepId }) => writer.submit(() => resumptions.isWaitPending(runNo, stepId)),
    resumptionWatch: (listener) => resumptions.watch(listener),
  };
}

function isBehind(looked: { at: number; no: number }, reached: { at: number; no: number } | null): boolean {
  return reached === null || looked.at < reached.at || (looked.at === reached.at && looked.no < reached.no);
}
