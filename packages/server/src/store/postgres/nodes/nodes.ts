/**
 * The nodes that share the database: each sends a heartbeat every few seconds, by PostgreSQL's clock. The list is for people and for
 * migrations; leases determine who holds which work.
 */

import type { PoolClient } from "pg";
import { type NodeReport, type StoreReport, type StoreTopic, StoreUnavailable } from "../../contract/index.ts";
import type { Database } from "../database.ts";
import { refuseIncompleteCopy } from "../schema/incomplete-copy.ts";
import { CHANNEL } from "./announce.ts";
import { refuseMember } from "./refuse-member.ts";

/** When several nodes start together, one migrates and the others wait. A copy of an embedded store also starts under this lock. */
export const MIGRATION_LOCK = 7_263;
const HEARTBEAT_INTERVAL_MS = 5_000;
/** Slightly more than three heartbeats, so that a slow node is not reported as gone. */
const GONE_AFTER_MS = 17_000;
/** How long a dead node is still listed. */
const SHOWN_MS = 3_600_000;

/** Nodes that hear of it count those that share the database again. */
const JOINED: StoreTopic = "directory";

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const HEARTBEAT = `
  INSERT INTO nodes AS n (node, version, schema_known, started_at, last_seen_at) VALUES ($1, $2, $3, ${NOW}, ${NOW})
  ON CONFLICT (node) DO UPDATE SET last_seen_at = excluded.last_seen_at
  RETURNING (SELECT oldest_program FROM schema_version) AS oldest`;
/** Several nodes may do this at the same time: each skips rows that another has locked. */
const FORGET = `
  WITH old AS MATERIALIZED (SELECT node FROM nodes WHERE last_seen_at < ${NOW} - ${SHOWN_MS} LIMIT 100 FOR UPDATE SKIP LOCKED)
  DELETE FROM nodes WHERE node IN (SELECT * FROM old)`;
const ALIVE = `SELECT node, version, schema_known FROM nodes WHERE last_seen_at >= ${NOW} - ${GONE_AFTER_MS} ORDER BY node`;
const REPORT = `
  SELECT s.version AS schema, (SELECT json_agg(n ORDER BY n.started_at, n.node) FROM (
    SELECT node, version, started_at, last_seen_at, last_seen_at < ${NOW} - ${GONE_AFTER_MS} AS is_gone FROM nodes) AS n) AS nodes
  FROM schema_version AS s`;

interface ReportRow {
  schema: number;
  nodes: { node: string; version: string; started_at: number; last_seen_at: number; is_gone: boolean }[] | null;
}

export interface NodeFacts {
  node: string;
  version: string;
  schemaKnown: number;
}

export class Heartbeat {
  readonly #database: Database;
  readonly #facts: NodeFacts;
  #timer: NodeJS.Timeout | null = null;
  #oldestProgram = 0;
  #stopped: Promise<void> | null = null;

  constructor(database: Database, facts: NodeFacts) {
    this.#database = database;
    this.#facts = facts;
  }

  /** Throws StoreRefused if no node may work here. If a copy starts at the same time, either it sees this node or this node sees it. */
  async start(isDirectory: boolean): Promise<void> {
    const { node, version, schemaKnown } = this.#facts;
    await this.#database.transaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      await refuseIncompleteCopy(client);
      if (isDirectory) await refuseMember(client);
      await client.query(HEARTBEAT, [node, version, schemaKnown]);
      await client.query("SELECT pg_notify($1, $2)", [CHANNEL, `${node} ${JOINED}`]);
    }, "migration");
    // A failed heartbeat is made up for by the next one; other failures report the cause.
    this.#timer = setInterval(() => void this.#beat().catch(() => {}), HEARTBEAT_INTERVAL_MS).unref();
  }

  /** Idempotent, and safe before start. */
  stop(): Promise<void> {
    this.#stopped ??= this.#leave();
    return this.#stopped;
  }

  /** A node that was paused while the others were upgraded must receive no requests: it would write data that no node reads. */
  refuseTooOld(): void {
    if (this.#oldestProgram <= this.#facts.schemaKnown) return;
    throw new StoreUnavailable("this node runs an older version than the database needs: upgrade the node");
  }

  async report(): Promise<StoreReport> {
    const begun = performance.now();
    const [row] = await this.#database.query<ReportRow>(REPORT);
    const answerMs = Math.round((performance.now() - begun) * 10) / 10;
    const nodes = (row?.nodes ?? []).map(toNode);
    return { engine: "postgres", schema: row?.schema ?? 0, schemaKnown: this.#facts.schemaKnown, answerMs, nodes };
  }

  async #beat(): Promise<void> {
    const { node, version, schemaKnown } = this.#facts;
    const [row] = await this.#database.query<{ oldest: number }>(HEARTBEAT, [node, version, schemaKnown]);
    this.#oldestProgram = row?.oldest ?? 0;
    await this.#database.query(FORGET);
  }

  async #leave(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    await this.#database.query("DELETE FROM nodes WHERE node = $1", [this.#facts.node]).catch(() => {});
  }
}

export async function aliveNodes(client: PoolClient): Promise<{ node: string; version: string; schema_known: number }[]> {
  return (await client.query(ALIVE)).rows;
}

function toNode({ node, version, started_at, last_seen_at, is_gone }: NonNullable<ReportRow["nodes"]>[number]): NodeReport {
  return { name: node, version, since: started_at, lastSeenAt: last_seen_at, isGone: is_gone };
}
