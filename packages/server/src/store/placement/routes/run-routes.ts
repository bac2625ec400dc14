/** Apps, functions, runs, and work on many of them. */

import type {
  AlertStore,
  ApprovalStore,
  AppStore,
  CancellationStore,
  FailureStateStore,
  FunctionStartStore,
  JobStore,
  OrderStore,
  RunStore,
  SavedFilterStore,
  SignalStore,
  Store,
} from "../../contract/index.ts";
import { first, found, inEnvironment, type Routes, rememberedRows, rows, upTo, upToIn, watched } from "../rules.ts";
import { split } from "../split.ts";

export const RUN_ROUTES: Routes<
  AppStore &
    RunStore &
    FunctionStartStore &
    SignalStore &
    OrderStore &
    ApprovalStore &
    CancellationStore &
    FailureStateStore &
    SavedFilterStore &
    JobStore &
    AlertStore
> = {
  // Apps and functions.
  appList: (placement, name) => () => rememberedRows(placement, name, (store) => store.appList()),
  functionList: (placement, name) => () => rememberedRows(placement, name, (store) => store.functionList()),
  appSync: inEnvironment,
  functionPause: inEnvironment,
  functionLimit: inEnvironment,
  appFault: inEnvironment,
  appRemove: inEnvironment,

  // Runs.
  runStart: inEnvironment,
  runAdvance: inEnvironment,
  runNoteCall: inEnvironment,
  runContext: inEnvironment,
  stepRequest: inEnvironment,
  runEnd: inEnvironment,
  runFind: (placement) => (params) => {
    const { environmentId } = params;
    if (environmentId === undefined) return found(placement, (store) => store.runFind(params));
    return placement.inEnvironment(environmentId, (store) => store.runFind(params));
  },
  runGet: inEnvironment,
  runSummaries: inEnvironment,
  runWatch: watched,
  runFailures: inEnvironment,
  runList: inEnvironment,
  runTimings: inEnvironment,
  runEndCount: inEnvironment,
  waitCountByFunction: inEnvironment,
  runCountByJob: inEnvironment,
  runCountByEvent: inEnvironment,
  functionStart: inEnvironment,
  eventAt: inEnvironment,
  eventsAt: inEnvironment,
  markGet: inEnvironment,
  startsUndecided: inEnvironment,
  markExpireMany: (placement) => upTo(placement, (store, params) => store.markExpireMany(params)),
  signalSend: inEnvironment,
  orderHoldList: inEnvironment,
  orderRelease: inEnvironment,
  orderHoldRelease: inEnvironment,
  approvalRequest: inEnvironment,
  approvalDecide: inEnvironment,
  approvalGet: inEnvironment,
  approvalFind: (placement) => (params) => found(placement, (store) => store.approvalFind(params)),
  approvalList: inEnvironment,
  approvalCountOpen: inEnvironment,
  approvalsOfRun: inEnvironment,
  approvalExpireMany: (placement) => (params) => upToIn(placement, params, (store, some) => store.approvalExpireMany(some)),
  cancellationInsert: inEnvironment,
  cancellationGet: inEnvironment,
  cancellationList: inEnvironment,
  cancellationListOpen: (placement) => () => rows(placement, (store) => store.cancellationListOpen()),
  cancellationEnd: inEnvironment,
  cancellationDelete: inEnvironment,
  cancellationExpireMany: (placement) => upTo(placement, (store, params) => store.cancellationExpireMany(params)),
  failureStateList: inEnvironment,
  failureStateSet: inEnvironment,
  failureStateDelete: inEnvironment,
  savedFilterList: inEnvironment,
  savedFilterSet: inEnvironment,
  savedFilterDelete: inEnvironment,

  // Jobs and alerts.
  jobInsert: inEnvironment,
  jobItemsAdd: inEnvironment,
  jobGet: inEnvironment,
  jobFind:
    (placement) =>
    async ({ environmentIds, id }) => {
      const keys = environmentIds.map((environmentId) => ({ environmentId }));
      const find = (store: Store, some: readonly (typeof keys)[number][]) =>
        store.jobFind({ environmentIds: some.map(({ environmentId }) => environmentId), id });
      return (await split(placement, keys, find)).find((job) => job !== null) ?? null;
    },
  jobList: inEnvironment,
  jobSeriesIsOpen: inEnvironment,
  jobClaim: (placement) => first(placement, (store, params) => store.jobClaim(params)),
  jobRenew: inEnvironment,
  jobItems: inEnvironment,
  jobAdvance: inEnvironment,
  jobEnd: inEnvironment,
  jobExpireMany: (placement) => upTo(placement, (store, params) => store.jobExpireMany(params)),
  alertRuleList: (placement) => async () =>
    (await rows(placement, (store) => store.alertRuleList())).sort((a, b) => a.createdAt - b.createdAt),
  alertRuleInsert: inEnvironment,
  alertRuleUpdate: inEnvironment,
  alertRuleDelete: inEnvironment,
  alertChange: inEnvironment,
};
