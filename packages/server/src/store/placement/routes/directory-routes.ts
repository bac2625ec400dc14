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
  environmentMoveInsert: inDirectory,
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

/** A member that is away cannot take an environment. */
async function insertEnvironment(placement: Placement, params: Parameters<EnvironmentStore["environmentInsert"]>[0]) {
  const { databaseNo = 0 } = params;
  if (databaseNo !== 0) await placement.members.numbered(databaseNo).store.storeProbe();
  return placement.directory.environmentInsert(params);
}

async function noted(placement: Placement, environment: Environment | null): Promise<Environment | null> {
  if (environment) await placement.note(environment);
  return environment;
}
