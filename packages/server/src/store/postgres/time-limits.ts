/**
 * How long a transaction may take. PostgreSQL enforces these limits itself: they are set in the message that begins the transaction, so
 * they cost no round trip and hold behind a proxy with transaction pooling. A node that stands still, or whose machine is gone, keeps
 * its locks no longer than that.
 *
 * Within a kind, a transaction may stand still for less time than another waits for its locks: whoever waits for a node that stands
 * still gets the lock instead of an error.
 */

/** `work` is what events and runs wait for. Everything else has connections of its own. */
export type WorkKind = "work" | "read" | "maintenance" | "migration";

export interface TimeLimits {
  /** From the beginning of the transaction to its end. Before PostgreSQL 17, only the node enforces it. */
  transactionMs: number;
  /** One statement. From PostgreSQL 17 on it has no effect, being as long as the limit of the transaction, which closes the connection. */
  statementMs: number;
  /** Waiting for one lock. */
  lockMs: number;
  /** Between two statements. */
  idleMs: number;
}

export const TIMEOUT_MS_DEFAULT = 5_000;
const READ_MS = 30_000;
/** VACUUM, ANALYZE, partitions, retention, erasure. */
const MAINTENANCE_MS = 15 * 60_000;
/** Indexes of large tables take long, and other nodes wait for the one that migrates. A copy counts the rows of large tables. */
const MIGRATION_MS = 12 * 3_600_000;
const MIGRATION_IDLE_MS = 60_000;

/** `timeoutMs`: how long a transaction of the kind `work` may take. */
export function timeLimits(kind: WorkKind, timeoutMs: number): TimeLimits {
  const waits = { lockMs: Math.ceil(timeoutMs * 0.8), idleMs: Math.ceil(timeoutMs * 0.6) };
  const whole = (ms: number) => ({ transactionMs: ms, statementMs: ms });
  if (kind === "work") return { ...whole(timeoutMs), ...waits };
  if (kind === "read") return { ...whole(Math.max(READ_MS, timeoutMs)), ...waits };
  if (kind === "maintenance") return { ...whole(MAINTENANCE_MS), ...waits };
  return { ...whole(MIGRATION_MS), lockMs: MIGRATION_MS, idleMs: MIGRATION_IDLE_MS };
}

const TRANSACTION_TIMEOUT_SINCE = 170_000;

/** `serverVersion`: 0 if it is not known yet. */
export function beginText({ transactionMs, statementMs, lockMs, idleMs }: TimeLimits, serverVersion: number): string {
  const settings = [
    `lock_timeout = ${lockMs}`,
    `statement_timeout = ${statementMs}`,
    `idle_in_transaction_session_timeout = ${idleMs}`,
    ...(serverVersion >= TRANSACTION_TIMEOUT_SINCE ? [`transaction_timeout = ${transactionMs}`] : []),
  ];
  return ["BEGIN", ...settings.map((setting) => `SET LOCAL ${setting}`)].join("; ");
}
