/** Realtime messages in SQLite. There are no other nodes: listeners are called once the messages are on disk. */

import type { DatabaseSync } from "node:sqlite";
import {
  CHANNEL_MESSAGES_MAX,
  type NewRealtimeMessage,
  type RealtimeListener,
  type RealtimeMessage,
  type RealtimeReadParams,
  type RealtimeStore,
} from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { bytesOf, cutPage, ENVIRONMENT_BYTES_MAX, TrimMeter } from "./policy.ts";
import { type RealtimeRow, toRealtimeMessage } from "./rows.ts";

type Published = Parameters<RealtimeStore["realtimePublish"]>[0];

export function realtimeStore(db: DatabaseSync, writer: GroupCommit): RealtimeStore {
  const listeners = new Set<RealtimeListener>();
  const meter = new TrimMeter();
  const take = db.prepare(`
    INSERT INTO realtime_numbers (environment_id, last_number) VALUES (?1, ?2)
    ON CONFLICT (environment_id) DO UPDATE SET last_number = last_number + excluded.last_number RETURNING last_number`);
  const insert = db.prepare(`
    INSERT INTO realtime_messages (environment_id, number, channel, topic, text, bytes, run_id, published_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const last = db.prepare("SELECT last_number FROM realtime_numbers WHERE environment_id = ?");
  const has = db.prepare("SELECT 1 FROM realtime_messages WHERE environment_id = ? AND number = ? AND published_at > ?");
  const floor = db.prepare(
    "SELECT number FROM realtime_messages WHERE environment_id = ? AND channel = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
  );
  const read = db.prepare(`
    SELECT environment_id, number, channel, topic, text, bytes FROM realtime_messages INDEXED BY realtime_messages_by_channel
    WHERE environment_id = ? AND channel = ? AND number > ? AND number <= ? AND published_at > ? ORDER BY number LIMIT ?`);
  const trimChannel = db.prepare("DELETE FROM realtime_messages WHERE environment_id = ? AND channel = ? AND number < ?");
  const surplus = db.prepare(`
    SELECT max(number) AS number FROM (
      SELECT number, sum(bytes) OVER (ORDER BY number DESC) AS kept FROM realtime_messages WHERE environment_id = ?1) WHERE kept > ?2`);
  const trimEnvironment = db.prepare("DELETE FROM realtime_messages WHERE environment_id = ? AND number <= ?");
  const environments = db.prepare("SELECT environment_id FROM realtime_numbers");
  const expire = db.prepare(`
    DELETE FROM realtime_messages WHERE environment_id = ?1 AND number IN (
      SELECT number FROM (SELECT number, published_at FROM realtime_messages WHERE environment_id = ?1 ORDER BY number LIMIT ?3)
      WHERE published_at <= ?2)`);

  function floorOf(environmentId: number, channel: string): number {
    return (floor.get(environmentId, channel, CHANNEL_MESSAGES_MAX) as { number: number } | undefined)?.number ?? 0;
  }

  function store({ environmentId, messages, now }: Published): number[] {
    const { last_number: highest } = take.get(environmentId, messages.length) as { last_number: number };
    const numbers = messages.map((_, at) => highest - messages.length + 1 + at);
    for (const [at, message] of messages.entries()) {
      const { channel, topic, text, runId } = message;
      insert.run(environmentId, numbers[at] as number, channel, topic, text, bytesOf(message), runId, now);
    }
    trim(environmentId, messages);
    return numbers;
  }

  function trim(environmentId: Published["environmentId"], messages: readonly NewRealtimeMessage[]): void {
    const { channels, isEnvironmentDue } = meter.add(environmentId, messages);
    for (const channel of channels) trimChannel.run(environmentId, channel, floorOf(environmentId, channel));
    if (!isEnvironmentDue) return;
    const { number } = surplus.get(environmentId, ENVIRONMENT_BYTES_MAX) as { number: number | null };
    if (number !== null) trimEnvironment.run(environmentId, number);
  }

  function expireMany(publishedUntil: number, limit: number): number {
    let removed = 0;
    for (const { environment_id } of environments.all() as { environment_id: number }[]) {
      if (removed < limit) removed += Number(expire.run(environment_id, publishedUntil, limit - removed).changes);
    }
    return removed;
  }

  function page({ environmentId, cursors, until, publishedAfter, limit }: RealtimeReadParams) {
    const rows = cursors.flatMap(
      ({ channel, after }) => read.all(environmentId, channel, after, until, publishedAfter, limit) as unknown as RealtimeRow[],
    );
    return cutPage(
      rows
        .map(toRealtimeMessage)
        .sort((one, other) => one.number - other.number)
        .slice(0, limit),
      { until, limit },
    );
  }

  return {
    async realtimePublish(params) {
      const { environmentId, messages } = params;
      const numbers = await writer.submit(() => store(params), messages.length);
      for (const [at, { channel, topic, text }] of messages.entries()) {
        const message: RealtimeMessage = { environmentId, number: numbers[at] as number, channel, topic, text };
        for (const listener of listeners) listener(message);
      }
      return numbers;
    },
    realtimeLast: async ({ environmentId }) => (last.get(environmentId) as { last_number: number } | undefined)?.last_number ?? 0,
    realtimeKept: async ({ environmentId, numbers, publishedAfter }) =>
      numbers.filter((number) => has.get(environmentId, number, publishedAfter) !== undefined),
    realtimeFloor: async ({ environmentId, channel }) => floorOf(environmentId, channel),
    realtimeRead: async (params) => page(params),
    realtimeWatch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    realtimeExpireMany: ({ publishedUntil, limit }) => writer.submit(() => expireMany(publishedUntil, limit), limit),
  };
}
