/**
 * The read replica of a database: answers reads for people, if it is known to have everything that is committed. Whenever it does not, is away,
 * is silent, or cancels a read, the primary answers instead, so a replica never makes a read fail.
 *
 * A loop examines it every second. Between its rounds, a read that finds the replica too far behind or unreachable takes it out of use, so that
 * the wait for it is paid once and not by every read.
 */

import type { QueryResultRow } from "pg";
import { type ReplicaReport, StoreUnavailable } from "../../contract/index.ts";
import { type Database, PostgresDatabase, type Read } from "../database.ts";
import { isTimeout } from "../failures.ts";
import { timeLimits } from "../time-limits.ts";
import { type Examined, examineReplica } from "./examine-replica.ts";
import { ReplicaPosition } from "./replica-position.ts";

export type ReplicaStatus = Pick<ReplicaReport, "state" | "reason">;

export interface ReplicaOptions {
  primary: Database;
  url: string;
  connectionsMax: number;
  /** The name under which this node sends heartbeats to the primary. */
  node: string;
  /** Called when its state has changed. */
  onReplica(status: ReplicaStatus): void;
}

const EXAMINE_EVERY_MS = 1_000;
/** How long a read waits for the replica to replay what is committed. */
const CATCH_UP_MS = 250;
/** How long the replica may take to say where it is. */
const RESPONSE_MS = 2_000;
/** The share of the connections that reads use. The others ask where the replica is: one at a time. */
const READS_SHARE = 0.8;

/** A read of one statement or of several, on the database it is given. */
type View<Result> = (database: Database) => Promise<Result>;

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #database: PostgresDatabase;
  readonly #position: ReplicaPosition;
  readonly #reads = { replica: 0, primary: 0 };
  #status: ReplicaStatus = { state: "unreachable", reason: "it has not answered yet" };
  /** The state that was last reported. */
  #reported: ReplicaReport["state"] | null = null;
  #lagMs: number | null = null;
  /** Resolved when the replica is taken out of use. */
  #leaving = Promise.withResolvers<null>();
  #timer: NodeJS.Timeout | null = null;
  #examining: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | null = null;

  constructor(options: ReplicaOptions) {
    const { url, connectionsMax, primary } = options;
    this.#options = options;
    const connections = { url, connectionsMax, otherShare: READS_SHARE, listenUrl: null, timeoutMs: RESPONSE_MS };
    this.#database = new PostgresDatabase({ ...connections, onFault: () => undefined, onRecovery: () => undefined });
    this.#position = new ReplicaPosition(primary, this.#database);
  }

  start(): void {
    this.#examineAgain(0);
  }

  /** Idempotent. Waits for no response of the replica, only for a connection that is being opened. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  report(): ReplicaReport {
    return { ...this.#status, lagMs: this.#lagMs, reads: { ...this.#reads } };
  }

  read<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#read((database) =>
      // Not repeated on the replica, which cancels what stands in the way of its replay.
      database === this.#database
        ? database.transaction(async (client) => (await client.query<Row>(text, values as unknown[])).rows, "read")
        : database.read<Row>(text, values),
    );
  }

  readTogether<Result>(work: (read: Read) => Promise<Result>): Promise<Result> {
    return this.#read((database) => database.readTogether(work));
  }

  async #read<Result>(read: View<Result>): Promise<Result> {
    const answer = (await this.#isFresh()) ? await this.#fromReplica(read) : null;
    if (answer) {
      this.#reads.replica++;
      return answer.result;
    }
    this.#reads.primary++;
    return read(this.#options.primary);
  }

  /** Throws StoreUnavailable if the primary is away: it could not answer the read either. */
  async #isFresh(): Promise<boolean> {
    if (this.#status.state !== "used") return false;
    const isFresh = await this.#position.catchesUp(CATCH_UP_MS).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) throw error;
      return null;
    });
    if (isFresh === false) this.#leave({ state: "behind", reason: "it lacks what was committed a moment ago" });
    return isFresh === true;
  }

  /** Null: the primary has to answer. A read that took all its time would take as long there: its failure is the response. */
  async #fromReplica<Result>(read: View<Result>): Promise<{ result: Result } | null> {
    const begun = performance.now();
    const answer = read(this.#database).then((result) => ({ result }));
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, this.#leaving.promise]);
    } catch (error) {
      if (performance.now() - begun >= timeLimits("read", RESPONSE_MS).statementMs) throw error;
      if (error instanceof StoreUnavailable && !isTimeout(error.cause)) this.#leave({ state: "unreachable", reason: error.message });
      return null;
    }
  }

  #leave(status: ReplicaStatus): void {
    this.#status = status;
    this.#position.forget();
    this.#leaving.resolve(null);
  }

  #enter(): void {
    if (this.#status.state === "used") return;
    this.#status = { state: "used", reason: null };
    this.#leaving = Promise.withResolvers();
  }

  #examineAgain(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#examining = this.#examine().finally(() => this.#examineAgain(EXAMINE_EVERY_MS));
    }, afterMs).unref();
  }

  /** Never throws. */
  async #examine(): Promise<void> {
    const { primary, node, onReplica } = this.#options;
    const outcome = await examineReplica(primary, this.#database, node).catch((error: unknown) => error);
    if (this.#stopped) return;
    if (isExamined(outcome)) await this.#decideUse(outcome);
    else this.#leave({ state: "unreachable", reason: outcome instanceof Error ? outcome.message : String(outcome) });
    if (this.#stopped || this.#reported === this.#status.state) return;
    this.#reported = this.#status.state;
    onReplica(this.#status);
  }

  async #decideUse({ refusal, lagMs }: Examined): Promise<void> {
    this.#lagMs = lagMs;
    if (refusal !== null) this.#leave({ state: "refused", reason: refusal });
    else if (lagMs === 0) this.#enter();
    // Behind by what was committed since the primary was asked, as it usually is under load: a read would wait for it.
    else if (await this.#position.catchesUp(CATCH_UP_MS).catch(() => false)) this.#enter();
    else this.#leave({ state: "behind", reason: "it lacks what was committed a moment ago" });
  }

  async #stop(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#leave({ state: "unreachable", reason: "the store has stopped" });
    await this.#database.abandon();
    await this.#examining;
  }
}

function isExamined(outcome: unknown): outcome is Examined {
  return typeof outcome === "object" && outcome !== null && "refusal" in outcome;
}
