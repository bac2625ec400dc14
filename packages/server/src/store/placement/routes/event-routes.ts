/** Events, what is known about their names, requests to webhooks, and messages. */

import type {
  DedupKeyStore,
  ErasureStore,
  EventSchemaStore,
  EventShapeStore,
  EventStore,
  EventTypeStore,
  MirrorCursor,
  MirrorStore,
  RealtimeStore,
  ReconciliationStore,
  WebhookRequestStore,
} from "../../contract/index.ts";
import { done, each, inEnvironment, inOneDatabase, type Routes, rememberedRows, rows, upTo, upToIn, watched } from "../rules.ts";
import { split } from "../split.ts";

export const EVENT_ROUTES: Routes<
  EventStore &
    DedupKeyStore &
    ErasureStore &
    EventTypeStore &
    EventSchemaStore &
    EventShapeStore &
    WebhookRequestStore &
    ReconciliationStore &
    MirrorStore &
    RealtimeStore
> = {
  // Events.
  eventAppend: inEnvironment,
  eventCountNew: inEnvironment,
  eventGet: inEnvironment,
  eventList: inEnvironment,
  eventCountUnmatched: inEnvironment,
  eventFollow: inEnvironment,
  eventSequence: inEnvironment,
  eventSequenceBefore: inEnvironment,
  /** Responses to calls with idempotency keys are in the directory. */
  eventErase: (placement) => (params) =>
    placement.inEnvironment(params.environmentId, (store) => {
      const { directory } = placement;
      if (store === directory) return store.eventErase(params);
      return store.eventErase({ ...params, forgetResponses: (ids) => directory.idempotencyForget({ ids }) });
    }),
  erasureSettle: (placement) => async (params) => {
    const { directory } = placement;
    await placement.inEnvironment(params.environmentId, async (store) => {
      await store.erasureSettle(params);
      if (store !== directory) await directory.erasureSettle(params);
    });
  },
  dedupKeyFind: inEnvironment,
  eventWatch: watched,
  dedupKeyExpireMany: (placement) => upTo(placement, (store, params) => store.dedupKeyExpireMany(params)),

  // Event types, schemas, shapes.
  eventTypeList: inEnvironment,
  eventTypeUnseenList: inEnvironment,
  eventTypeGet: inEnvironment,
  eventTypeSettingsPut: inEnvironment,
  eventTypeSettingsList: (placement, name) => () => rememberedRows(placement, name, (store) => store.eventTypeSettingsList()),
  eventTypeCount: (placement) => async (params) =>
    (await each(placement, (store) => store.eventTypeCount(params))).every(({ answer }) => answer),
  eventTypeHourExpireMany: (placement) => upTo(placement, (store, params) => store.eventTypeHourExpireMany(params)),
  eventSchemaList: (placement, name) => () => rememberedRows(placement, name, (store) => store.eventSchemaList()),
  eventSchemaGet: inEnvironment,
  eventSchemaPut: inEnvironment,
  eventSchemaVersions: inEnvironment,
  eventSchemaFaultsAdd:
    (placement) =>
    ({ faults }) =>
      done(split(placement, faults, (store, some) => store.eventSchemaFaultsAdd({ faults: some }))),
  eventShapeProgress: inOneDatabase,
  eventSample: inOneDatabase,
  eventShapePut: inOneDatabase,
  eventShapeGetMany:
    (placement) =>
    async ({ keys }) =>
      (await split(placement, keys, (store, some) => store.eventShapeGetMany({ keys: some }))).flat(),
  eventShapeCount: inEnvironment,

  // Requests to webhooks, and what comes of them.
  webhookRequestInsert: inEnvironment,
  webhookRequestGet: inEnvironment,
  webhookRequestList: inEnvironment,
  webhookRequestWithBody: inEnvironment,
  webhookRequestOutcomes: inEnvironment,
  webhookRequestCounts: inEnvironment,
  webhookRequestFollow: inEnvironment,
  webhookRequestSequence: inEnvironment,
  webhookRequestSequenceBefore: inEnvironment,
  webhookRequestExpireMany: (placement) => (params) => upToIn(placement, params, (store, some) => store.webhookRequestExpireMany(some)),
  reconciliationAdd: inEnvironment,
  reconciliationList: inEnvironment,
  reconciliationLastScheduled: inEnvironment,
  reconciliationRecovered: inEnvironment,
  reconciliationExpireMany: (placement) => upTo(placement, (store, params) => store.reconciliationExpireMany(params)),
  mirrorList: (placement) => async (params) => {
    const pending = await rows(placement, (store) => store.mirrorList(params));
    const isBefore = (a: MirrorCursor, b: MirrorCursor) =>
      a.eventId === b.eventId ? a.environmentId < b.environmentId : a.eventId < b.eventId;
    return pending.sort((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, params.limit);
  },
  mirrorKeep: inEnvironment,
  mirrorRemove: inEnvironment,

  // Realtime.
  realtimePublish: inEnvironment,
  realtimeLast: inEnvironment,
  realtimeKept: inEnvironment,
  realtimeFloor: inEnvironment,
  realtimeRead: inEnvironment,
  realtimeWatch: watched,
  realtimeExpireMany: (placement) => upTo(placement, (store, params) => store.realtimeExpireMany(params)),
};
