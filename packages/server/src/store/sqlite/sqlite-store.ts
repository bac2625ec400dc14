/** The embedded store: one SQLite file in the data folder, one writer on this thread, readers on another. */

import { activityStore } from "../activity/sqlite.ts";
import { admissionStore } from "../admissions/sqlite.ts";
import { alertStore } from "../alerts/sqlite.ts";
import { approvalStore } from "../approvals/sqlite/approval-store.ts";
import { appStore } from "../apps/sqlite.ts";
import { auditStore } from "../audit-log/sqlite.ts";
import { cancellationStore } from "../cancellations/sqlite.ts";
import type { CommitFigures, Store, WaitRules } from "../contract/index.ts";
import { databaseStore } from "../databases/sqlite.ts";
import { dedupKeyStore } from "../dedup-keys/sqlite.ts";
import { environmentStore } from "../environments/sqlite.ts";
import { erasureStore } from "../erasure/sqlite.ts";
import { eventSchemaStore } from "../event-schemas/sqlite.ts";
import { eventShapeStore } from "../event-shapes/sqlite.ts";
import { eventTypeStore } from "../event-types/sqlite.ts";
import { eventStore } from "../events/sqlite/event-store.ts";
import { failureStateStore } from "../failure-states/sqlite.ts";
import { functionStartStore } from "../function-starts/sqlite/function-starts.ts";
import { idempotencyStore } from "../idempotency-keys/sqlite.ts";
import { jobStore } from "../jobs/sqlite/job-store.ts";
import { keyStore } from "../keys/sqlite.ts";
import { leadershipStore } from "../leadership/sqlite.ts";
import { mirrorStore } from "../mirrors/sqlite.ts";
import { environmentMoveStore } from "../moves/sqlite.ts";
import { orderStore } from "../orders/sqlite.ts";
import { queueStore } from "../queue/sqlite/queue.ts";
import { realtimeStore } from "../realtime/sqlite.ts";
import { reconciliationStore } from "../reconciliations/sqlite.ts";
import { resumptionStore } from "../resumptions/sqlite/continue-resumptions.ts";
import { retentionStore } from "../retention/sqlite.ts";
import { runStore } from "../runs/sqlite/runs.ts";
import { savedFilterStore } from "../saved-filters/sqlite.ts";
import { sessionStore } from "../sessions/sqlite.ts";
import { NO_RULES } from "../shared/no-rules.ts";
import { signalStore } from "../signals/sqlite.ts";
import { trafficStore } from "../traffic/sqlite.ts";
import { usageStore } from "../usage/sqlite.ts";
import { webhookRequestStore } from "../webhook-requests/sqlite/webhook-requests.ts";
import { webhookStore } from "../webhooks/sqlite.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitEffects } from "./commit-effects.ts";
import { openFolder } from "./folder/open-folder.ts";
import { GroupCommit, type GroupCommitHooks } from "./group-commit.ts";
import { Reader } from "./reader.ts";
import { createRunParts } from "./run-parts.ts";
import { storeItself } from "./store-itself.ts";

export interface SqliteStoreOptions extends Pick<GroupCommitHooks, "onFault" | "onRecovery"> {
  folder: string;
  /** The keys that encrypt secrets: the first encrypts, all decrypt. Without one, a key is stored in the folder. */
  encryptionKeys?: readonly string[];
  /** How waits are found. Not needed if no functions run. */
  rules?: WaitRules;
  /** Exports `compileWhere`. Not needed if payloads are not searched. */
  whereModule?: URL;
  /** Version of this program, shown to people. */
  version?: string;
  onCommitted?(figures: CommitFigures): void;
}

/** Throws StoreRefused if the folder is in use or not writable, or contains a file that must not be used. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { folder, encryptionKeys = [], rules = NO_RULES, whereModule, version = "unknown", onCommitted, ...hooks } = options;
  const { path, db, box, hashes, close } = openFolder(folder, encryptionKeys);
  const reader = new Reader(path, whereModule);
  const checkpointer = new Checkpointer(db, () => reader.read("checkpoint", undefined));
  const parts = createRunParts(db, { box, keyHash: hashes.keyHash, rules });
  const { entries, changed, limits, order, traffic, usage, resumeRuns } = parts;
  const afterCommit = [() => checkpointer.noteCommit(), () => resumeRuns.forget(), () => changed.notify(), () => limits.notify()];
  const effects = new CommitEffects({ onCommitted, afterCommit, caches: parts.caches });
  const writer = new GroupCommit(db, {
    ...hooks,
    onCommit: (durationMs) => effects.committed(durationMs),
    beforeCommit() {
      traffic.write();
      usage.write();
    },
    onRollback: () => effects.rolledBack(),
  });
  async function stop(): Promise<void> {
    writer.stop();
    checkpointer.stop();
    await reader.stop();
    close();
  }
  const nouns = {
    ...eventStore({ events: parts.events, writer, reader, effects }),
    ...dedupKeyStore(db, writer),
    ...environmentStore(db, writer),
    ...databaseStore(),
    ...environmentMoveStore(),
    ...keyStore(db, writer, box),
    ...cancellationStore(db, writer),
    ...realtimeStore(db, writer),
    ...sessionStore(db, writer),
    ...auditStore(db, writer, reader),
    ...idempotencyStore(db, writer),
    ...eventTypeStore(db, writer, reader, traffic),
    ...eventSchemaStore(db, writer),
    ...eventShapeStore(db, writer, reader),
    ...trafficStore(db, writer, reader, traffic),
    ...usageStore(db, writer, reader, usage),
    ...activityStore(db, writer, reader),
    ...webhookStore(db, writer, box),
    ...webhookRequestStore(db, writer, reader),
    ...appStore(db, writer, entries),
    ...queueStore(db, { ...parts, writer, reader }),
    ...admissionStore(db, { writer, limits, order, entries }),
    ...orderStore(writer, order),
    ...runStore(db, { ...parts, writer, reader, box }),
    ...failureStateStore(db, writer),
    ...savedFilterStore(db, writer),
    ...alertStore(db, { ...parts, writer }),
    ...mirrorStore(db, writer),
    ...jobStore(db, { writer, startRuns: parts.startRuns }),
    ...reconciliationStore(db, writer),
    ...signalStore({ writer, resumeRuns }),
    ...approvalStore(db, { ...parts, writer, reader }),
    ...resumptionStore({ ...parts, writer }),
    ...retentionStore(db, writer, reader),
    ...erasureStore(db, writer),
    ...functionStartStore(db, { ...parts, writer }),
    ...leadershipStore(),
  };
  const itself = { db, writer, path, version, hashes, views: nouns, close: stop, whole: () => store };
  const store: Store = { ...nouns, ...storeItself(itself) };
  return store;
}
