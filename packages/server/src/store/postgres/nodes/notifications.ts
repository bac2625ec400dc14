/**
 * Notifications between nodes: events were stored, runs changed, unleased entries wait, slots became free, keys or functions
 * were changed; and realtime messages.
 *
 * They use LISTEN and NOTIFY on a dedicated connection, and only reduce latency: a node that missed one, or does not listen at all,
 * finds the same by polling. Notifications about events, runs, entries and slots are sent after the commit: at
 * once if there were none recently, otherwise collected for a moment, because PostgreSQL serialises commits that notify. Topics that
 * only live streams need have their own channels, which a node listens to while it has watchers.
 */

import type { RunNo } from "@inlet/protocol";
import type { Client } from "pg";
import { type QueueListener, type RealtimeListener, STORE_TOPICS, type StoreTopic, TIMER_LANE } from "../../contract/index.ts";
import { LANE_WALK } from "../../queue/postgres/lane-walk.ts";
import { MessagePieces } from "../../realtime/postgres/message-pieces.ts";
import { REALTIME_CHANNEL } from "../../realtime/postgres/realtime-store.ts";
import type { Database } from "../database.ts";
import { type Notices, noNotices, noteLane } from "../pending-writes.ts";
import { CHANNEL } from "./announce.ts";
import { Listeners } from "./listeners.ts";

const EVENTS_CHANNEL = "inlet_events";
const RUNS_CHANNEL = "inlet_runs";
const GATHER_MS = 10;
/** The same for events and runs, which only live streams wait for. */
const STREAM_GATHER_MS = 100;
/** A notification holds at most 8,000 bytes. */
const RUNS_PER_MESSAGE = 400;
const TEXT_UNITS_MAX = 2_000;
const RECONNECT_MS = 500;
/** A lost notification does no harm, so neither this commit nor later notifying ones wait for the disk. */
const NOTIFY = `
  SELECT set_config('synchronous_commit', 'off', true), pg_notify(message.channel, message.payload)
  FROM unnest($1::text[], $2::text[]) AS message(channel, payload)`;

/** Lanes with unleased due entries, including those whose lease expired with a dead node. */
const LANES_DUE = `
  ${LANE_WALK}
  SELECT lane FROM walk WHERE EXISTS (
    SELECT FROM queue WHERE queue.lane = walk.lane AND queue.lane <> '${TIMER_LANE}' AND due_at <= $1)
  UNION ALL SELECT '${TIMER_LANE}' WHERE EXISTS (
    SELECT FROM queue WHERE lane = '${TIMER_LANE}' AND rank <= $1 AND due_at <= $1)`;

/** Messages on the main channel; `poll` replaces one that is too long. */
type Message = { lane: string; dueAt: number } | { limits: readonly string[] } | { poll: true };

export class Notifications {
  readonly events = new Listeners<() => void>(() => void this.#subscribe());
  readonly runs = new Listeners<(runNos: readonly RunNo[]) => void>(() => void this.#subscribe());
  readonly realtime = new Listeners<RealtimeListener>(() => void this.#subscribe());
  readonly queue = new Listeners<QueueListener>();
  readonly limits = new Listeners<(ids: readonly string[]) => void>();
  readonly topics = new Listeners<(topic: StoreTopic) => void>();
  readonly #database: Database;
  readonly #node: string;
  readonly #pollIntervalMs: number;
  readonly #pieces = new MessagePieces();
  #gathered: Notices = noNotices();
  #client: Client | null = null;
  /** What was noted since the last notification is sent after this time; null: nothing was. */
  #gatherMs: number | null = null;
  /** By `performance.now()`. */
  #sentAt = 0;
  #gathering: NodeJS.Timeout | null = null;
  #reconnecting: NodeJS.Timeout | null = null;
  #polling: NodeJS.Timeout | null = null;
  #isPolling = false;
  #stopped = false;

  constructor(database: Database, node: string, pollIntervalMs: number) {
    this.#database = database;
    this.#node = node;
    this.#pollIntervalMs = pollIntervalMs;
  }

  async start(): Promise<void> {
    this.#polling = setInterval(() => void this.#poll(), this.#pollIntervalMs).unref();
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of [this.#gathering, this.#reconnecting, this.#polling]) if (timer) clearTimeout(timer);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  /** Listeners of this node are notified at once, other nodes soon after. */
  notify({ hasEvents, runNos, lanes, limitIds }: Notices): void {
    if (hasEvents) this.events.notify();
    if (runNos.size > 0) this.runs.notify([...runNos]);
    for (const [lane, times] of lanes) for (const dueAt of times) this.queue.notify(lane, dueAt);
    if (limitIds.size > 0) this.limits.notify([...limitIds]);
    const gathered = this.#gathered;
    gathered.hasEvents ||= hasEvents;
    for (const runNo of runNos) gathered.runNos.add(runNo);
    for (const [lane, times] of lanes) noteLane(gathered, lane, Math.min(...times));
    for (const id of limitIds) gathered.limitIds.add(id);
    if (hasEvents || runNos.size > 0 || lanes.size > 0 || limitIds.size > 0) this.#gather();
  }

  #gather(): void {
    const { lanes, limitIds } = this.#gathered;
    const gatherMs = lanes.size > 0 || limitIds.size > 0 ? GATHER_MS : STREAM_GATHER_MS;
    if (this.#stopped || (this.#gatherMs !== null && this.#gatherMs <= gatherMs)) return;
    this.#gatherMs = gatherMs;
    if (this.#gathering) clearTimeout(this.#gathering);
    const restMs = gatherMs - (performance.now() - this.#sentAt);
    if (restMs <= 0) setImmediate(() => this.#notify());
    else this.#gathering = setTimeout(() => this.#notify(), restMs);
  }

  #notify(): void {
    if (this.#stopped || this.#gatherMs === null) return;
    this.#gatherMs = null;
    this.#sentAt = performance.now();
    const messages = messagesOf(this.#gathered, this.#node);
    this.#gathered = noNotices();
    this.#database.query(NOTIFY, [messages.map(([channel]) => channel), messages.map(([, payload]) => payload)]).catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = this.#database.dedicated();
    if (!client) return;
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ channel, payload }) => this.#hearContained(channel, payload ?? ""));
    try {
      this.#client = client;
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      await this.#subscribe();
    } catch {
      this.#lose(client);
    }
  }

  /** Listens to channels that have watchers. Nothing is lost until that takes effect: watchers also poll. */
  async #subscribe(): Promise<void> {
    const client = this.#client;
    const wanted = [
      this.events.size > 0 ? `LISTEN ${EVENTS_CHANNEL}` : `UNLISTEN ${EVENTS_CHANNEL}`,
      this.runs.size > 0 ? `LISTEN ${RUNS_CHANNEL}` : `UNLISTEN ${RUNS_CHANNEL}`,
      this.realtime.size > 0 ? `LISTEN ${REALTIME_CHANNEL}` : `UNLISTEN ${REALTIME_CHANNEL}`,
    ];
    await client?.query(wanted.join("; ")).catch(() => client && this.#lose(client));
  }

  /** Notifications sent while disconnected are lost: all listeners poll once the connection is back. */
  #lose(client: Client): void {
    if (this.#client !== client || this.#stopped) return;
    this.#client = null;
    client.end().catch(() => {});
    this.#reconnecting = setTimeout(() => void this.#connect().then(() => this.#client && this.#poll()), RECONNECT_MS).unref();
  }

  /** Anybody who may connect to the database may notify: what is not one of ours is ignored. Polling finds what it meant. */
  #hearContained(channel: string, payload: string): void {
    try {
      this.#hear(channel, payload);
    } catch {
      // Not valid.
    }
  }

  #hear(channel: string, payload: string): void {
    const [node = "", what = ""] = split(payload);
    if (node === this.#node) return;
    if (channel === EVENTS_CHANNEL) this.events.notify();
    else if (channel === RUNS_CHANNEL) this.runs.notify(what.split(",").map(Number).filter(Number.isSafeInteger) as RunNo[]);
    else if (channel === REALTIME_CHANNEL) this.#hearMessage(what);
    else if (what.startsWith("{")) this.#act(JSON.parse(what) as Message);
    else if ((STORE_TOPICS as readonly string[]).includes(what)) this.topics.notify(what as StoreTopic);
  }

  #hearMessage(what: string): void {
    const message = this.#pieces.add(what);
    if (message) this.realtime.notify(message);
  }

  #act(message: Message): void {
    if ("lane" in message && typeof message.lane === "string" && typeof message.dueAt === "number")
      this.queue.notify(message.lane, message.dueAt);
    else if ("limits" in message && Array.isArray(message.limits)) this.limits.notify(message.limits.map(String));
    else if ("poll" in message) void this.#poll();
  }

  /** Detects a connection that hangs without an error. Polling does not wait for it: it replaces what that connection does not deliver. */
  async #check(): Promise<void> {
    const client = this.#client;
    await client?.query("SELECT 1").catch(() => this.#lose(client));
  }

  /** One at a time: while PostgreSQL is slow, polls must not take its connections from other work. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    await this.#pollOnce();
    this.#isPolling = false;
  }

  /** Never throws. */
  async #pollOnce(): Promise<void> {
    try {
      void this.#check();
      await this.#database.readClock();
      const now = this.#database.now();
      for (const { lane } of await this.#database.query<{ lane: string }>(LANES_DUE, [now])) this.queue.notify(lane, now);
      this.events.notify();
      this.realtime.notify(null);
      for (const topic of STORE_TOPICS) this.topics.notify(topic);
    } catch {
      // The next poll finds it.
    }
  }
}

function messagesOf({ hasEvents, runNos, lanes, limitIds }: Notices, node: string): [channel: string, payload: string][] {
  const runs = [...runNos];
  const messages: [string, string][] = hasEvents ? [[EVENTS_CHANNEL, node]] : [];
  for (let n = 0; n < runs.length; n += RUNS_PER_MESSAGE) {
    messages.push([RUNS_CHANNEL, `${node} ${runs.slice(n, n + RUNS_PER_MESSAGE).join(",")}`]);
  }
  const said = [
    ...[...lanes].map(([lane, times]): Message => ({ lane, dueAt: Math.min(...times) })),
    ...[...limitIds].map((id): Message => ({ limits: [id] })),
  ];
  const texts = said.map((message) => JSON.stringify(message)).map((text) => (text.length > TEXT_UNITS_MAX ? '{"poll":true}' : text));
  for (const text of new Set(texts)) messages.push([CHANNEL, `${node} ${text}`]);
  return messages;
}

function split(payload: string): [string, string] {
  const space = payload.indexOf(" ");
  return space < 0 ? [payload, ""] : [payload.slice(0, space), payload.slice(space + 1)];
}
