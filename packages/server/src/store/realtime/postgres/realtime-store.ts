/**
 * Realtime messages in PostgreSQL. Publishers of a node that wait at the same time share a transaction, one for each environment. The row of
 * the environment's highest number is locked until the commit, so numbers are given in the order of the commits. Other nodes are notified
 * after it; one that misses a notification reads the messages from the table.
 */

import type { EnvironmentId } from "@inlet/protocol";
import {
  CHANNEL_MESSAGES_MAX,
  type NewRealtimeMessage,
  type RealtimeListener,
  type RealtimeMessage,
  type RealtimeReadParams,
  type RealtimeStore,
} from "../../contract/index.ts";
import type { Database } from "../../postgres/database.ts";
import type { Listeners } from "../../postgres/nodes/listeners.ts";
import { bytesOf, cutPage, ENVIRONMENT_BYTES_MAX, TrimMeter } from "../policy.ts";
import { type RealtimeRow, toRealtimeMessage } from "../rows.ts";
import { piecesOf } from "./message-pieces.ts";

export const REALTIME_CHANNEL = "inlet_realtime";
/** A lost notification does no harm, so nothing waits for the disk. */
const NOTIFY = `
  SELECT set_config('synchronous_commit', 'off', true), pg_notify('${REALTIME_CHANNEL}', piece) FROM unnest($1::text[]) AS piece`;
const STORE = `
  WITH taken AS (
    INSERT INTO realtime_numbers (environment_id, last_number) VALUES ($1, cardinality($2::text[]))
    ON CONFLICT (environment_id) DO UPDATE SET last_number = realtime_numbers.last_number + excluded.last_number RETURNING last_number),
  stored AS (
    INSERT INTO realtime_messages (environment_id, number, channel, topic, text, bytes, run_id, published_at)
    SELECT $1, taken.last_number - cardinality($2::text[]) + given.at, channel, topic, text, bytes, run_id, $7
    FROM taken, unnest($2::text[], $3::text[], $4::text[], $5::integer[], $6::text[])
      WITH ORDINALITY AS given(channel, topic, text, bytes, run_id, at))
  SELECT last_number FROM taken`;
const FLOOR = `
  SELECT number FROM realtime_messages WHERE environment_id = $1 AND channel = $2
  ORDER BY environment_id, channel, number DESC LIMIT 1 OFFSET ${CHANNEL_MESSAGES_MAX}`;
const READ = `
  SELECT page.* FROM unnest($2::text[], $3::bigint[]) AS wanted(channel, after) CROSS JOIN LATERAL (
    SELECT environment_id, number, channel, topic, text, bytes FROM realtime_messages AS m
    WHERE m.environment_id = $1 AND m.channel = wanted.channel AND m.number > wanted.after AND m.number <= $4 AND m.published_at > $5
    ORDER BY m.environment_id, m.channel, m.number LIMIT $6) AS page
  ORDER BY page.number LIMIT $6`;
const KEPT = "SELECT number FROM realtime_messages WHERE environment_id = $1 AND number = ANY ($2::bigint[]) AND published_at > $3";
const TRIM_CHANNEL = `DELETE FROM realtime_messages WHERE environment_id = $1 AND channel = $2 AND number < (${FLOOR})`;
const TRIM_ENVIRONMENT = `
  DELETE FROM realtime_messages WHERE environment_id = $1 AND number <= (
    SELECT max(number) FROM (
      SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS kept FROM realtime_messages WHERE environment_id = $1) AS summed
    WHERE kept > ${ENVIRONMENT_BYTES_MAX})`;
/** The oldest of each environment come first: if these have not expired, none has. */
const EXPIRE = `
  DELETE FROM realtime_messages AS m USING realtime_numbers AS n CROSS JOIN LATERAL (
    SELECT number FROM (
      SELECT number, published_at FROM realtime_messages WHERE environment_id = n.environment_id ORDER BY number LIMIT $2) AS first
    WHERE published_at <= $1) AS old
  WHERE m.environment_id = n.environment_id AND m.number = old.number RETURNING 1`;

type Published = Parameters<RealtimeStore["realtimePublish"]>[0];

interface Waiting extends Published {
  resolve(numbers: number[]): void;
  reject(error: unknown): void;
}

/** What one transaction stores at most. */
const BATCH_MESSAGES_MAX = 200;

export function realtimeStore(database: Database, node: string, listeners: Listeners<RealtimeListener>): RealtimeStore {
  const publisher = new Publisher(database, node, listeners);
  return {
    realtimePublish: (params) => publisher.publish(params),
    async realtimeLast({ environmentId }) {
      const text = "SELECT last_number FROM realtime_numbers WHERE environment_id = $1";
      return (await database.query<{ last_number: number }>(text, [environmentId]))[0]?.last_number ?? 0;
    },
    async realtimeKept({ environmentId, numbers, publishedAfter }) {
      const rows = await database.query<{ number: number }>(KEPT, [environmentId, numbers, publishedAfter]);
      return rows.map(({ number }) => number);
    },
    async realtimeFloor({ environmentId, channel }) {
      return (await database.query<{ number: number }>(FLOOR, [environmentId, channel]))[0]?.number ?? 0;
    },
    realtimeRead: (params) => read(database, params),
    realtimeWatch: (listener) => listeners.add(listener),
    async realtimeExpireMany({ publishedUntil, limit }) {
      return (await database.query(EXPIRE, [publishedUntil, limit], "maintenance")).length;
    },
  };
}

async function read(database: Database, { environmentId, cursors, until, publishedAfter, limit }: RealtimeReadParams) {
  const channels = cursors.map(({ channel }) => channel);
  const after = cursors.map((cursor) => cursor.after);
  const rows = await database.read<RealtimeRow>(READ, [environmentId, channels, after, until, publishedAfter, limit]);
  return cutPage(rows.map(toRealtimeMessage), { until, limit });
}

class Publisher {
  readonly #database: Database;
  readonly #node: string;
  readonly #listeners: Listeners<RealtimeListener>;
  readonly #meter = new TrimMeter();
  readonly #waiting = new Map<EnvironmentId, Waiting[]>();
  readonly #busy = new Set<EnvironmentId>();

  constructor(database: Database, node: string, listeners: Listeners<RealtimeListener>) {
    this.#database = database;
    this.#node = node;
    this.#listeners = listeners;
  }

  publish(params: Published): Promise<number[]> {
    return new Promise((resolve, reject) => {
      const { environmentId } = params;
      const waiting = this.#waiting.get(environmentId) ?? [];
      waiting.push({ ...params, resolve, reject });
      this.#waiting.set(environmentId, waiting);
      if (!this.#busy.has(environmentId)) void this.#work(environmentId);
    });
  }

  /** One transaction of an environment at a time: others would only wait for its lock. Never throws. */
  async #work(environmentId: EnvironmentId): Promise<void> {
    this.#busy.add(environmentId);
    for (let batch = this.#take(environmentId); batch.length > 0; batch = this.#take(environmentId)) {
      try {
        await this.#store(environmentId, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy.delete(environmentId);
  }

  #take(environmentId: EnvironmentId): Waiting[] {
    const waiting = this.#waiting.get(environmentId) ?? [];
    let count = 0;
    const end = waiting.findIndex(({ messages }, at) => {
      count += messages.length;
      return at > 0 && count > BATCH_MESSAGES_MAX;
    });
    const batch = waiting.splice(0, end < 0 ? waiting.length : end);
    if (waiting.length === 0) this.#waiting.delete(environmentId);
    return batch;
  }

  async #store(environmentId: EnvironmentId, batch: readonly Waiting[]): Promise<void> {
    const all = batch.flatMap(({ messages }) => messages);
    const values = [
      environmentId,
      all.map(({ channel }) => channel),
      all.map(({ topic }) => topic),
      all.map(({ text }) => text),
      all.map(bytesOf),
      all.map(({ runId }) => runId),
      Math.max(...batch.map(({ now }) => now)),
    ];
    const [row] = await this.#database.query<{ last_number: number }>(STORE, values);
    const stored = numbered(environmentId, all, (row?.last_number ?? 0) - all.length);
    for (const message of stored) this.#listeners.notify(message);
    let at = 0;
    for (const { messages, resolve } of batch) {
      resolve(stored.slice(at, at + messages.length).map(({ number }) => number));
      at += messages.length;
    }
    // What follows concerns no publisher: a node that is not notified finds the messages, and the next time trims what is left.
    const pieces = stored.flatMap((message) => piecesOf(message, this.#node));
    await this.#database.query(NOTIFY, [pieces]).catch(() => undefined);
    await this.#trim(environmentId, all).catch(() => undefined);
  }

  async #trim(environmentId: EnvironmentId, messages: readonly NewRealtimeMessage[]): Promise<void> {
    const { channels, isEnvironmentDue } = this.#meter.add(environmentId, messages);
    for (const channel of channels) await this.#database.query(TRIM_CHANNEL, [environmentId, channel], "maintenance");
    if (isEnvironmentDue) await this.#database.query(TRIM_ENVIRONMENT, [environmentId], "maintenance");
  }
}

function numbered(environmentId: EnvironmentId, messages: readonly NewRealtimeMessage[], before: number): RealtimeMessage[] {
  return messages.map(({ channel, topic, text }, at) => ({ environmentId, number: before + 1 + at, channel, topic, text }));
}
