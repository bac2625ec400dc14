/**
 * How far a replica has come, compared with its primary. A read that asks first, and finds that the replica has replayed whatever the primary
 * had committed at that moment, sees all that any client was told before: its own writes, and what an earlier page implied.
 *
 * The position is that of the log on disk: a commit waits for it before anybody sees its changes, and nothing beyond it is sent to replicas.
 * With `synchronous_commit = off` commits do not wait: then it is the end of the log, which is on disk a moment later.
 */

import { setTimeout as pause } from "node:timers/promises";
import { sharedRefresh } from "../../contract/index.ts";
import type { Database } from "../database.ts";

/** Positions in bytes. A statement reads its position after it has taken its snapshot: what it sees is committed there. */
const END = "CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END";
export const COMMITTED = `(${END} - '0/0')::bigint`;
/** The part of the log that a server writes. A standby that is promoted begins another one, at once; while it is a standby it has none. */
export const TIMELINE = "CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END";
/**
 * The address of a replica may lead to the primary, as that of managed services does while they have no replica: it has everything. A replica
 * that was promoted no longer follows it, whatever its own log says: null. The parameter is the timeline of the primary.
 */
export const REPLAYED = `
  (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() WHEN ${TIMELINE} = $1::text THEN ${END} END - '0/0')::bigint`;

const ASK_AGAIN_MS = 5;

type Asks = Pick<Database, "query">;

export class ReplicaPosition {
  readonly #askPrimary: () => Promise<void>;
  readonly #askReplica: () => Promise<void>;
  #committed = 0;
  #timeline = "";
  #replayed = 0;

  /** Reads that ask at the same time share a question, which is sent after the last of them asked. */
  constructor(primary: Asks, replica: Asks) {
    this.#askPrimary = sharedRefresh(async () => {
      // Not with the connections that events and runs wait for.
      const statement = `SELECT ${COMMITTED} AS committed, ${TIMELINE} AS timeline`;
      const [row] = await primary.query<{ committed: number; timeline: string | null }>(statement, [], "read");
      this.#committed = row?.committed ?? 0;
      this.#timeline = row?.timeline ?? "";
    });
    this.#askReplica = sharedRefresh(async () => {
      const [row] = await replica.query<{ replayed: number | null }>(`SELECT ${REPLAYED} AS replayed`, [this.#timeline]);
      this.#replayed = row?.replayed ?? 0;
    });
  }

  /** What was known is of another server, or of another life of it. */
  forget(): void {
    this.#replayed = 0;
  }

  /** Whether the replica has replayed, within the time, what is committed now. Throws if the primary cannot be asked. */
  async catchesUp(waitMs: number): Promise<boolean> {
    await this.#askPrimary();
    const target = this.#committed;
    if (this.#replayed >= target) return true;
    const deadline = new AbortController();
    const late = pause(waitMs, false, { signal: deadline.signal, ref: false }).catch(() => false);
    try {
      return await Promise.race([this.#replays(target, deadline.signal), late]);
    } finally {
      deadline.abort();
    }
  }

  async #replays(target: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const isAnswered = await this.#askReplica().then(
        () => true,
        () => false,
      );
      if (!isAnswered) return false;
      if (this.#replayed >= target) return true;
      await pause(ASK_AGAIN_MS);
    }
    return false;
  }
}
