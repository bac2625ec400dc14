/**
 * The connections of one node to PostgreSQL: how values are read, how failures are detected, how long each transaction may take, and the
 * server's time.
 *
 * Transactions that events and runs wait for have connections of their own, so lists and maintenance cannot take them all.
 */

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type Client, type ClientConfig, Pool, type PoolClient, type QueryResultRow } from "pg";
import { StoreUnavailable } from "../contract/index.ts";
import { isConnectionLost, isTimeout, NoResponse, refusedConnection, serverFault, translate } from "./failures.ts";
import { retryCollisions } from "./retry-collisions.ts";
import { TextClient, TYPES } from "./text-client.ts";
import { beginText, TIMEOUT_MS_DEFAULT, timeLimits, type WorkKind } from "./time-limits.ts";

export interface DatabaseOptions {
  url: string;
  connectionsMax: number;
  /** The share of the connections that is not kept for the work of events and runs. */
  otherShare?: number;
  /** Null: no LISTEN connection. */
  listenUrl: string | null;
  /** How long a transaction may take that events and runs wait for; absent: five seconds. */
  timeoutMs?: number;
  /** The time that counts; absent: this server's. */
  now?: () => number;
  /** Called when PostgreSQL stops responding, and when it responds again. */
  onFault(reason: string): void;
  onRecovery(): void;
}

/** At least this long a connection may take, waiting for a free one included: longer where transactions may take longer. */
const CONNECT_TIMEOUT_MS = 5_000;
/** PostgreSQL ends a transaction at its limit. This much later, the node takes it that there is no response. */
const GRACE_MS = 500;
const OTHER_SHARE = 0.3;
const CLOCK = `
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, current_setting('server_version_num')::integer AS version`;

/** Rows of a statement, inside a transaction or not. */
export type Read = <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** What the nouns use of it: another implementation may answer the reads from a replica (see replica/viewing-database.ts). */
export type Database = Pick<PostgresDatabase, keyof PostgresDatabase>;

export class PostgresDatabase {
  readonly #options: DatabaseOptions;
  readonly #timeoutMs: number;
  #pools: Record<"work" | "other", Pool>;
  #serverVersion = 0;
  #faulty = false;
  /** All that are connected. */
  readonly #clients = new Set<PoolClient>();
  #stopped: Promise<void> | null = null;
  /** PostgreSQL's time when `performance.now()`, which no clock change affects, was 0. Null until it has been read. */
  #originMs: number | null = null;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS_DEFAULT;
    this.#pools = this.#openPools();
  }

  /** Rows of one statement, in its own transaction and one round trip. Repeated if PostgreSQL aborts it to resolve a deadlock. */
  async query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = [], kind: WorkKind = "work"): Promise<Row[]> {
    const once = () =>
      this.#limited(kind, async (client) => {
        const statements = [this.#begin(client, kind), client.query<Row>(text, values as unknown[]), client.query("COMMIT")] as const;
        return (await Promise.all(statements))[1].rows;
      });
    return retryCollisions(() => this.#watched(once, kind));
  }

  /** The same for lists and other reads that nothing else waits for. In a view, a replica may answer it. */
  read<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.query(text, values, "read");
  }

  /** Several reads that see the same state of everything, in one transaction. In a view, a replica may answer them. */
  readTogether<Result>(work: (read: Read) => Promise<Result>): Promise<Result> {
    return this.transaction(async (client) => {
      const isolated = client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
      const read: Read = async (text, values) => (await client.query(text, values as unknown[])).rows;
      const [, result] = await Promise.all([isolated, work(read)]);
      return result;
    }, "read");
  }

  /** A statement that cannot be part of a transaction. Only the node limits it: VACUUM holds no lock that a transaction here waits for. */
  async vacuum(table: string): Promise<void> {
    await this.#watched(() => this.#limited("maintenance", (client) => client.query(`VACUUM ${table}`)), "maintenance");
  }

  /** Runs several statements in one transaction. Throws CommitUnknown if only the response to the commit is missing. */
  transaction<Result>(work: (client: PoolClient) => Promise<Result>, kind: WorkKind = "work"): Promise<Result> {
    return this.#watched(
      () =>
        this.#limited(kind, async (client) => {
          // The first statements are sent along with the beginning: they run after it.
          const [, result] = await Promise.all([this.#begin(client, kind), work(client)]);
          await commit(client);
          return result;
        }),
      kind,
    );
  }

  async #begin(client: PoolClient, kind: WorkKind): Promise<void> {
    await client.query(beginText(timeLimits(kind, this.#timeoutMs), this.#serverVersion));
  }

  /** Lends a connection. If PostgreSQL does not answer in time, the connection is closed, and with it whatever it did. */
  async #limited<Result>(kind: WorkKind, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const pools = this.#pools;
    const client = await pools[kind === "work" ? "work" : "other"].connect().catch((error: unknown) => {
      throw refusedConnection(error);
    });
    sendTogether(client);
    const { transactionMs } = timeLimits(kind, this.#timeoutMs);
    let noResponse: NoResponse | undefined;
    let broken: Error | undefined;
    const deadline = setTimeout(() => {
      noResponse = new NoResponse(`PostgreSQL did not answer within ${transactionMs + GRACE_MS} ms`);
      // Cleaning a large table takes its time: that says nothing about other connections.
      if (kind !== "maintenance") this.#replace(pools);
      socketOf(client).destroy();
    }, transactionMs + GRACE_MS);
    try {
      return await work(client);
    } catch (error) {
      if (isConnectionLost(error) || error instanceof CommitUnknown) broken = error as Error;
      else {
        await client.query("ROLLBACK").catch((failure) => {
          broken = failure as Error;
        });
      }
      throw noResponse && !(error instanceof CommitUnknown) ? noResponse : error;
    } finally {
      clearTimeout(deadline);
      client.release(broken ?? noResponse);
    }
  }

  /** Where one connection has no response, the others may be as dead: new work gets new connections. */
  #replace(pools: Record<"work" | "other", Pool>): void {
    if (this.#pools !== pools || this.#stopped) return;
    this.#pools = this.#openPools();
    void endPools(pools);
  }

  #openPools(): Record<"work" | "other", Pool> {
    const { connectionsMax, otherShare = OTHER_SHARE } = this.#options;
    const others = Math.max(1, Math.floor(connectionsMax * otherShare));
    return { work: this.#openPool(Math.max(1, connectionsMax - others)), other: this.#openPool(others) };
  }

  #openPool(max: number): Pool {
    const pool = new Pool({ ...this.#config(this.#options.url), Client: TextClient, max, idleTimeoutMillis: 60_000 });
    // A broken idle connection is replaced when it is needed.
    pool.on("error", ignore);
    // If a client is in use, its current statement fails anyway. But an error without a listener would end the process, and PostgreSQL
    // may end a connection as soon as it is established, before the caller can listen.
    pool.on("connect", (client) => {
      client.on("error", ignore);
      this.#clients.add(client);
    });
    pool.on("remove", (client) => this.#clients.delete(client));
    return pool;
  }

  /** A dedicated connection for LISTEN: a pool, or a transaction-pooling proxy, would give it to others. Null: there is none. */
  dedicated(): Client | null {
    const { listenUrl } = this.#options;
    if (listenUrl === null) return null;
    return new TextClient({ ...this.#config(listenUrl), keepAlive: true, query_timeout: this.#timeoutMs + GRACE_MS });
  }

  /** PostgreSQL's time: the same on every node, even if a node's own clock is wrong or is changed. */
  now(): number {
    if (this.#options.now) return this.#options.now();
    return Math.round((this.#originMs ?? performance.timeOrigin) + performance.now());
  }

  async readClock(): Promise<void> {
    const before = performance.now();
    const [row] = await this.query<{ now: number; version: number }>(CLOCK);
    const after = performance.now();
    if (!row) return;
    this.#serverVersion = row.version;
    const origin = row.now - (before + after) / 2;
    // A difference smaller than the round trip cannot be measured.
    const isKnown = this.#originMs !== null && Math.abs(origin - this.#originMs) <= Math.max(2, after - before);
    if (!isKnown) this.#originMs = origin;
  }

  /** Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= endPools(this.#pools);
    return this.#stopped;
  }

  /** Stops without waiting for PostgreSQL: its connections are closed, and what they do fails. Idempotent. */
  abandon(): Promise<void> {
    const stopped = this.stop();
    for (const client of this.#clients) socketOf(client).destroy();
    return stopped;
  }

  #config(url: string): ClientConfig {
    return {
      connectionString: url,
      application_name: "inlet",
      connectionTimeoutMillis: Math.max(CONNECT_TIMEOUT_MS, this.#timeoutMs),
      types: TYPES,
      // Statements are pipelined: they are sent without waiting for earlier responses, and PostgreSQL still runs them in order.
      pipeline: true,
    };
  }

  /** What reads and maintenance take too long for says nothing about whether events can be stored: that is no fault of the server. */
  async #watched<Result>(work: () => Promise<Result>, kind: WorkKind): Promise<Result> {
    if (this.#stopped) throw new StoreUnavailable("the store has stopped");
    try {
      const result = await work();
      if (this.#faulty) this.#options.onRecovery();
      this.#faulty = false;
      return result;
    } catch (error) {
      const fault = error instanceof CommitUnknown ? error.message : serverFault(error);
      const isFaulty = fault !== null && (kind === "work" || !isTimeout(error));
      if (isFaulty && !this.#faulty) this.#options.onFault(fault);
      this.#faulty ||= isFaulty;
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
    assert.equal(command, "COMMIT", "a statement failed and its error was not handled");
  } catch (error) {
    throw isConnectionLost(error) ? new CommitUnknown(serverFault(error) ?? String(error), error) : error;
  }
}

async function endPools(pools: Record<string, Pool>): Promise<void> {
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
}

/** `end()` of a client waits for the responses to what it has sent. */
function socketOf(client: PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** What is sent until the end of this tick leaves in one system call: PostgreSQL then wakes once, and not for every statement. */
export function sendTogether(client: PoolClient): void {
  const socket = socketOf(client);
  if (socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
}

function ignore(): void {}
