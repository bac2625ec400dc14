/** The connections of one node to PostgreSQL: how values are read, how failures are detected, and the server's time. */

import assert from "node:assert/strict";
import { Client, type ClientConfig, Pool, type PoolClient, type QueryResultRow, types } from "pg";
import { StoreUnavailable } from "../contract/index.ts";
import { isCollision, isConnectionLost, serverFault, translate } from "./failures.ts";

export interface DatabaseOptions {
  url: string;
  connectionsMax: number;
  /** Null: no LISTEN connection. */
  listenUrl: string | null;
  /** Time limit of a statement; absent: one minute. */
  statementMs?: number;
  /** Called when PostgreSQL stops responding, and when it responds again. */
  onFault(reason: string): void;
  onRecovery(): void;
}

const BIGINT = 20;
const BIGINT_ARRAY = 1016;
const CONNECT_TIMEOUT_MS = 5_000;
/** No statement takes long normally; one that does is cancelled. */
const STATEMENT_TIMEOUT_MS = 60_000;
const COLLISIONS_MAX = 5;

/** Our numbers stay below 2^53. */
const TYPES = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === BIGINT) return Number;
    const parse = types.getTypeParser(oid, format as "text") as (value: string) => unknown;
    return oid === BIGINT_ARRAY
      ? (value: string) => (parse(value) as (string | null)[]).map((item) => (item === null ? null : Number(item)))
      : parse;
  },
} as NonNullable<ClientConfig["types"]>;

/** Rows of a statement, inside a transaction or not. */
export type Read = <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;

export class Database {
  readonly #options: DatabaseOptions;
  readonly #pool: Pool;
  #faulty = false;
  #stopped: Promise<void> | null = null;
  /** PostgreSQL's time when `performance.now()`, which no clock change affects, was 0. Null until it has been read. */
  #originMs: number | null = null;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#pool = new Pool({ ...this.#config(options.url), max: options.connectionsMax, idleTimeoutMillis: 60_000 });
    // A broken idle connection is replaced when it is needed.
    this.#pool.on("error", ignore);
    // If a client is in use, its current statement fails anyway. But an error without a listener would end the process, and PostgreSQL
    // may end a connection as soon as it is established, before the caller can listen.
    this.#pool.on("connect", (client) => client.on("error", ignore));
  }

  /** Rows of one statement, in its own transaction. It is repeated if PostgreSQL aborts it to resolve a deadlock. */
  async query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    for (let collisions = 1; ; collisions++) {
      try {
        return (await this.#watched(() => this.#pool.query<Row>(text, values as unknown[]))).rows;
      } catch (error) {
        if (!isCollision(error) || collisions >= COLLISIONS_MAX) throw error;
      }
    }
  }

  /** Runs several statements in one transaction. Throws CommitUnknown if only the response to the commit is missing. */
  transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    return this.#watched(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        const result = await work(client);
        await commit(client);
        return result;
      } catch (error) {
        if (isConnectionLost(error) || error instanceof CommitUnknown) broken = error as Error;
        else {
          await client.query("ROLLBACK").catch((failure) => {
            broken = failure as Error;
          });
        }
        throw error;
      } finally {
        client.release(broken);
      }
    });
  }

  /** A dedicated connection for LISTEN: a pool, or a transaction-pooling proxy, would give it to others. Null: there is none. */
  dedicated(): Client | null {
    const { listenUrl } = this.#options;
    return listenUrl === null ? null : new Client({ ...this.#config(listenUrl), keepAlive: true });
  }

  /** PostgreSQL's time: the same on every node, even if a node's own clock is wrong or is changed. */
  now(): number {
    return Math.round((this.#originMs ?? performance.timeOrigin) + performance.now());
  }

  async readClock(): Promise<void> {
    const before = performance.now();
    const [row] = await this.query<{ now: number }>("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now");
    const after = performance.now();
    if (!row) return;
    const origin = row.now - (before + after) / 2;
    // A difference smaller than the round trip cannot be measured.
    const isKnown = this.#originMs !== null && Math.abs(origin - this.#originMs) <= Math.max(2, after - before);
    if (!isKnown) this.#originMs = origin;
  }

  /** Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#pool.end();
    return this.#stopped;
  }

  #config(url: string): ClientConfig {
    return {
      connectionString: url,
      application_name: "inlet",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: this.#options.statementMs ?? STATEMENT_TIMEOUT_MS,
      types: TYPES,
      // Statements are pipelined: they are sent without waiting for earlier responses, and PostgreSQL still runs them in order.
      pipeline: true,
    };
  }

  async #watched<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#stopped) throw new StoreUnavailable("the store has stopped");
    try {
      const result = await work();
      if (this.#faulty) this.#options.onRecovery();
      this.#faulty = false;
      return result;
    } catch (error) {
      const fault = error instanceof CommitUnknown ? error.message : serverFault(error);
      if (fault && !this.#faulty) this.#options.onFault(fault);
      this.#faulty ||= fault !== null;
      throw error instanceof CommitUnknown ? error : translate(error);
    }
  }
}

/** The connection broke before PostgreSQL reported whether it had committed. */
export class CommitUnknown extends StoreUnavailable {}

async function commit(client: PoolClient): Promise<void> {
  try {
    const { command } = await client.query("COMMIT");
    // After a failed statement PostgreSQL rolls back instead, and reports it only this way.
    assert.equal(command, "COMMIT", "a statement of the transaction failed, and nobody looked");
  } catch (error) {
    throw isConnectionLost(error) ? new CommitUnknown(serverFault(error) ?? String(error), error) : error;
  }
}

function ignore(): void {}
