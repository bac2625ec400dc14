/** What the directory alone holds: environments and where they are, databases, keys, webhooks, people, leadership. */

import type {
  AuditStore,
  DatabaseStore,
  Environment,
  EnvironmentMoveStore,
  EnvironmentStore,
  IdempotencyStore,
  KeyStore,
  LeadershipStore,
  SessionStore,
  WebhookStore,
} from "../../contract/index.ts";
import type { Placement } from "../placement.ts";
import { inDirectory, type Routes } from "../rules.ts";

export const DIRECTORY_ROUTES: Routes<
  EnvironmentStore &
    EnvironmentMoveStore &
    DatabaseStore &
    KeyStore &
    WebhookStore &
    SessionStore &
    AuditStore &
    IdempotencyStore &
    LeadershipStore
> = {
  environmentList: (placement) => () => placement.environments(),
  environmentInsert: (placement) => async (params) => noted(placement, await insertEnvironment(placement, params)),
  environmentUpdate: (placement) => async (params) => noted(placement, await placement.directory.environmentUpdate(params)),
  environmentMoveInsert: (placement) => async (params) => {
    await probeMember(placement, placement.databaseOf(params.environmentId));
    return placement.directory.environmentMoveInsert(params);
  },
  environmentMoveList: inDirectory,
  /** Placement is read again with the step that switches, not with the notification only. */
  environmentMoveAdvance: (placement) => async (params) => {
    const progress = await placement.directory.environmentMoveAdvance(params);
    if (progress?.move.state === "switched") await placement.refresh();
    return progress;
  },
  databaseList: inDirectory,
  databaseAdd: (placement) => async (params) => {
    const added = await placement.directory.databaseAdd(params);
    await placement.refresh();
    await placement.members.settled();
    return added;
  },
  keyList: inDirectory,
  keyInsert: inDirectory,
  keyUpdate: inDirectory,
  keyRevoke: inDirectory,
  webhookList: inDirectory,
  webhookRetiredTokenList: inDirectory,
  webhookInsert: inDirectory,
  webhookUpdate: inDirectory,
  webhookRotate: inDirectory,
  webhookDelete: inDirectory,
  webhookVersionList: inDirectory,
  sessionList: inDirectory,
  sessionFind: inDirectory,
  sessionInsert: inDirectory,
  sessionTouch: inDirectory,
  sessionDelete: inDirectory,
  sessionExpireMany: inDirectory,
  auditAppend: inDirectory,
  auditList: inDirectory,
  auditExpireMany: inDirectory,
  idempotencyClaim: inDirectory,
  idempotencyResponse: inDirectory,
  idempotencyRelease: inDirectory,
  idempotencyForget: inDirectory,
  idempotencyExpireMany: inDirectory,
  leadershipTake: inDirectory,
  leadershipResign: inDirectory,
};

async function insertEnvironment(placement: Placement, params: Parameters<EnvironmentStore["environmentInsert"]>[0]) {
  await probeMember(placement, params.databaseNo ?? 0);
  return placement.directory.environmentInsert(params);
}

/** A member that is away can neither take an environment nor store the job that moves one. */
async function probeMember(placement: Placement, databaseNo: number): Promise<void> {
  if (databaseNo !== 0) await placement.members.numbered(databaseNo).store.storeProbe();
}

async function noted(placement: Placement, environment: Environment | null): Promise<Environment | null> {
  if (environment) await placement.note(environment);
  return environment;
}
