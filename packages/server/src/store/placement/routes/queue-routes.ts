/** The queue: lanes are of one environment, timers of all. */

import type {
  AdmissionStore,
  QueueClaimParams,
  QueueClaimResult,
  QueueListener,
  QueueStore,
  ResumptionStore,
  RunAdmitParams,
  RunAdmitResult,
} from "../../contract/index.ts";
import type { Placement } from "../placement.ts";
import { done, each, inEnvironment, type Routes, rows, upTo, watched } from "../rules.ts";
import { split } from "../split.ts";

export const QUEUE_ROUTES: Routes<QueueStore & AdmissionStore & ResumptionStore> = {
  queueClaimMany: (placement) => (params) => {
    const { environmentId } = params;
    return environmentId === undefined
      ? claimInAll(placement, params)
      : placement.inEnvironment(environmentId, (store) => store.queueClaimMany(params));
  },
  queueRenew:
    (placement) =>
    async ({ entries, until }) => {
      const renewed = await split(placement, entries, (store, some) => store.queueRenew({ entries: some, until }));
      return new Set(renewed.flatMap((ids) => [...ids]));
    },
  queueRelease:
    (placement) =>
    ({ entries, now }) =>
      done(split(placement, entries, (store, some) => store.queueRelease({ entries: some, now }))),
  queueRecover: (placement) => (params) => done(each(placement, (store) => store.queueRecover(params))),
  queueDepths: (placement) => () => rows(placement, (store) => store.queueDepths()),
  queueFunctionDepths: (placement) => () => rows(placement, (store) => store.queueFunctionDepths()),
  queueLanes: (placement) => async () => [
    ...new Set((await each(placement, (store) => store.queueLanes())).flatMap(({ answer }) => answer)),
  ],
  queueProbeBegin: inEnvironment,
  queueProbeClear: inEnvironment,
  queueNextDue: (placement) => async () => {
    const due = (await each(placement, (store) => store.queueNextDue())).flatMap(({ answer }) => answer ?? []);
    return due.length > 0 ? Math.min(...due) : null;
  },
  queueRemove: inEnvironment,
  queueReschedule: inEnvironment,
  queueHold: inEnvironment,
  queueMove: inEnvironment,
  queueTakeSlots:
    (placement) =>
    ({ calls }) =>
      done(split(placement, calls, (store, some) => store.queueTakeSlots({ calls: some }))),
  queueUnhold: (placement) => upTo(placement, (store, params) => store.queueUnhold(params)),
  queueCallOf: inEnvironment,
  queueHeld: inEnvironment,
  queueHeldRuns: inEnvironment,
  queueWatch: (placement) => (listener) =>
    placement.members.watch(
      "queueWatch",
      (no): QueueListener =>
        (lane, dueAt) =>
          listener(lane, dueAt, no),
    ),
  limitWatch: watched,
  runAdmitMany: (placement) => (params) => {
    const { environmentId } = params;
    return environmentId === undefined
      ? admitInAll(placement, params)
      : placement.inEnvironment(environmentId, (store) => store.runAdmitMany(params));
  },
  throttleGet: inEnvironment,
  resumptionList:
    (placement) =>
    async ({ limit }) =>
      (await rows(placement, (store) => store.resumptionList({ limit }))).slice(0, limit),
  resumptionContinue: inEnvironment,
  waitIsPending: inEnvironment,
  resumptionWatch: watched,
};

async function claimInAll(placement: Placement, params: QueueClaimParams): Promise<QueueClaimResult> {
  const answers = (await each(placement, (store) => store.queueClaimMany(params))).map(({ answer }) => answer);
  return {
    claimed: answers.flatMap(({ claimed }) => claimed),
    more: answers.some(({ more }) => more),
    fullLimits: [...new Set(answers.flatMap(({ fullLimits }) => fullLimits))],
  };
}

async function admitInAll(placement: Placement, params: RunAdmitParams): Promise<RunAdmitResult> {
  const answers = (await each(placement, (store) => store.runAdmitMany(params))).map(({ answer }) => answer);
  const times = answers.flatMap(({ nextAt }) => nextAt ?? []);
  return {
    admitted: answers.reduce((sum, { admitted }) => sum + admitted, 0),
    waiting: answers.flatMap(({ waiting }) => waiting),
    more: answers.some(({ more }) => more),
    nextAt: times.length > 0 ? Math.min(...times) : null,
  };
}
