/**
 * Writers of an environment that never stop, whichever database it is in, and what they know to be committed: numbers that are counted
 * up, entries that replace each other under a unique index, and events with new names.
 */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { EnvironmentMoved } from "../../src/store/contract/index.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { MOVED, type MoveScene } from "./move-scene.ts";

const WRITERS = 4;
const KEYS = 10;
/** Between two writes of a writer, and before it asks again where its environment is. Four that write without it take most of the processor from the move. */
const PAUSE_MS = 5;

export interface Writers {
  /** How often a write was refused. */
  refusals(): number;
  /** Resolves when each writer has written so many times more. */
  more(times: number): Promise<void>;
  /** Ends them and compares what they wrote with what a database holds. */
  check(database: Database): Promise<void>;
}

export function startWriters({ databases, placeOf }: MoveScene): Writers {
  const counts = new Map<string, number>();
  const entries = new Map<number, number>();
  const events = new Set<string>();
  const written = Array.from({ length: WRITERS }, () => 0);
  let [refused, isEnding] = [0, false];
  let place = 0;

  async function write(writer: number, n: number, client: PoolClient): Promise<() => void> {
    const key = `w${writer} k${n % KEYS}`;
    const runNo = 100 + writer * KEYS + (n % KEYS);
    if (n % 7 === 0) {
      await client.query("DELETE FROM marks WHERE environment_id = $1 AND kind = 'test' AND key = $2", [MOVED, key]);
      return () => counts.delete(key);
    }
    if (n % 3 === 0) {
      const id = `event ${writer} ${n}`;
      await client.query("INSERT INTO event_names (name) VALUES ($1) ON CONFLICT DO NOTHING", [`written ${n % 50}`]);
      await client.query(
        `INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
         SELECT nextval('event_sequence'), $1, $2, name_id, 0, 0, (SELECT min(source_no) FROM event_sources), '{}' FROM event_names WHERE name = $3`,
        [MOVED, id, `written ${n % 50}`],
      );
      return () => events.add(id);
    }
    await client.query("DELETE FROM queue WHERE environment_id = $1 AND run_no = $2", [MOVED, runNo]);
    const { rows } = await client.query<{ no: number }>(
      `INSERT INTO queue (entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, run_no, function_no)
       VALUES (nextval('entry_numbers'), $1, 'l', 'l', 0, 0, 0, 'call', $2, 1) RETURNING entry_no AS no`,
      [MOVED, runNo],
    );
    await client.query(
      `INSERT INTO marks AS m (environment_id, function_no, kind, key, value, expires_at) VALUES ($1, 1, 'test', $2, '1', 0)
       ON CONFLICT (environment_id, function_no, kind, key) DO UPDATE SET value = (m.value::integer + 1)::text`,
      [MOVED, key],
    );
    return () => {
      const no = rows[0]?.no as number;
      assert.ok(no > (entries.get(runNo) ?? 0), "numbers only grow, also across a move");
      entries.set(runNo, no);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
  }

  async function run(writer: number): Promise<void> {
    for (let n = 1; !isEnding; ) {
      try {
        (await (databases[place] as Database).transaction((client) => write(writer, n, client)))();
        written[writer] = n++;
      } catch (error) {
        if (!(error instanceof EnvironmentMoved)) throw error;
        refused++;
        place = await placeOf();
      }
      await pause(PAUSE_MS);
    }
  }

  const running = Promise.all(written.map((_, writer) => run(writer)));
  running.catch(() => undefined);
  return {
    refusals: () => refused,
    async more(times) {
      const wanted = written.map((n) => n + times);
      while (written.some((n, writer) => n < (wanted[writer] as number))) await Promise.race([pause(PAUSE_MS), running]);
    },
    async check(database) {
      isEnding = true;
      await running;
      const marks = await database.query<{ key: string; value: string }>(
        "SELECT key, value FROM marks WHERE environment_id = $1 AND kind = 'test'",
        [MOVED],
      );
      assert.deepEqual(
        marks.map(({ key, value }) => `${key} ${value}`).sort(),
        [...counts].map(([key, value]) => `${key} ${value}`).sort(),
      );
      const queue = await database.query<{ run_no: number; entry_no: number }>(
        "SELECT run_no, entry_no FROM queue WHERE environment_id = $1 AND lane = 'l'",
        [MOVED],
      );
      assert.deepEqual(queue.map((row) => `${row.run_no} ${row.entry_no}`).sort(), [...entries].map(([run, no]) => `${run} ${no}`).sort());
      const stored = await database.query<{ event_id: string; name: string }>(
        "SELECT event_id, name FROM events JOIN event_names USING (name_id) WHERE environment_id = $1 AND event_id LIKE 'event %'",
        [MOVED],
      );
      const own = stored.filter(({ name }) => name.startsWith("written "));
      assert.deepEqual(own.map(({ event_id }) => event_id).sort(), [...events].sort());
      for (const { event_id, name } of own) assert.equal(name, `written ${Number(event_id.split(" ")[2]) % 50}`, "each has its name");
    },
  };
}
