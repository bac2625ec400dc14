/** Figures, and what is removed when it is old. */

import type {
  ActivityStore,
  Removal,
  RemovalParams,
  RetentionStore,
  Store,
  TrafficStore,
  UsageHour,
  UsageListParams,
  UsageStore,
} from "../../contract/index.ts";
import type { Placement } from "../placement.ts";
import { done, each, inEnvironment, onwards, type Routes, unlessUnavailable, upTo } from "../rules.ts";
import { split } from "../split.ts";

export const FIGURE_ROUTES: Routes<TrafficStore & ActivityStore & UsageStore & RetentionStore> = {
  // Figures.
  trafficAdd:
    (placement) =>
    ({ minutes }) =>
      done(split(placement, minutes, (store, some) => store.trafficAdd({ minutes: some }))),
  trafficList: inEnvironment,
  trafficExpireMany: (placement) => upTo(placement, (store, params) => store.trafficExpireMany(params)),
  activityAdd:
    (placement) =>
    ({ hours }) =>
      done(split(placement, hours, (store, some) => store.activityAdd({ hours: some }))),
  activityLast: inEnvironment,
  activityList: inEnvironment,
  activityExpireMany: (placement) => upTo(placement, (store, params) => store.activityExpireMany(params)),
  usageAdd:
    (placement) =>
    ({ hours }) =>
      done(split(placement, hours, (store, some) => store.usageAdd({ hours: some }))),
  usageList: (placement) => (params) => usageOf(placement, params),
  usageExpireMany: (placement) => upTo(placement, (store, params) => store.usageExpireMany(params)),
  quotaLease: inEnvironment,
  quotaRelease: inEnvironment,

  // Retention.
  retentionMaintain: (placement) => (params) => done(each(placement, (store) => store.retentionMaintain(params))),
  eventExpireMany: (placement) => (params) => removeOld(placement, params, (store, some) => store.eventExpireMany(some)),
  runExpireMany: (placement) => (params) => removeOld(placement, params, (store, some) => store.runExpireMany(some)),
  retentionUsedBytes: (placement) => () => sum(placement, (store) => store.retentionUsedBytes()),
  retentionFileBytes: (placement) => () => sum(placement, (store) => store.retentionFileBytes()),
  retentionReclaim: (placement) => async () => (await each(placement, (store) => store.retentionReclaim())).every(({ answer }) => answer),
  retentionStoredBytes: inEnvironment,
  retentionOldestRows: inEnvironment,
  retentionArchiveFailingSince: (placement) => () => earliest(placement, (store) => store.retentionArchiveFailingSince()),
  retentionOldestAt: (placement) => () => earliest(placement, (store) => store.retentionOldestAt()),
};

async function earliest(placement: Placement, time: (store: Store) => Promise<number | null>): Promise<number | null> {
  const times = (await each(placement, time)).flatMap(({ answer }) => answer ?? []);
  return times.length > 0 ? Math.min(...times) : null;
}

/** Of several databases, those that can be reached. */
async function usageOf(placement: Placement, { environmentIds, ...params }: UsageListParams): Promise<UsageHour[]> {
  const keys = environmentIds.map((environmentId) => ({ environmentId }));
  const groups = [...Map.groupBy(keys, ({ environmentId }) => placement.databaseOf(environmentId)).values()];
  const read = (some: typeof keys) =>
    split(placement, some, (store, own) => store.usageList({ ...params, environmentIds: own.map((key) => key.environmentId) }));
  if (groups.length <= 1) return (await read(keys)).flat();
  const hours = await Promise.all(groups.map((group) => read(group).catch(unlessUnavailable<UsageHour[][]>([]))));
  return hours.flat(2).sort((a, b) => a.at - b.at);
}

/** In one environment, or in one database after the other. */
function removeOld<Params extends RemovalParams>(
  placement: Placement,
  params: Params,
  call: (store: Store, params: Params) => Promise<Removal>,
): Promise<Removal> {
  const { environmentId } = params;
  if (environmentId !== undefined) return placement.inEnvironment(environmentId, (store) => call(store, params));
  return onwards(placement, params, call);
}

async function sum(placement: Placement, call: (store: Store) => Promise<number>): Promise<number> {
  return (await each(placement, call)).reduce((all, { answer }) => all + answer, 0);
}
