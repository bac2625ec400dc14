/**
 * What nodes tell each other: events were stored, entries wait that nobody holds, keys or functions were changed.
 *
 * Signals go by LISTEN and NOTIFY on a connection of their own, and only make things fast: whoever missed one, or does not listen
 * at all, finds the same by looking every few seconds. Signals about events and entries are sent after the commit: at once when all
 * was quiet, else gathered for a moment, because PostgreSQL commits transactions that notify one at a time.
 */

import type { RunNo } from "@inlet/protocol";
import type { Client } from "pg";
import { type QueueListener, type StoreTopic, TIMER_LANE } from "../../contract/index.ts";
import { CHANNEL } from "./announce.ts";
import type { Database } from "../database.ts";
import { LANE_WALK } from "./lane-walk.ts";
import { TIMER_LANE_NO, type Words } from "./words.ts";

const GATHER_MS = 10;
/** A signal holds at most 8,000 bytes. */
const RUNS_PER_SIGNAL = 400;
const LOOK_INTERVAL_MS = 5_000;
/** A signal that is lost does no harm, so nobody waits for the disk: neither this one, nor those that notify after it. */
const NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload) FROM unnest($2::text[]) AS payload";
const RECONNECT_MS = 500;

/** Lanes with something due that nobody holds, the leases of dead nodes among them. */
const LANES_DUE = `
  ${LANE_WALK}
  SELECT lane_no FROM walk WHERE EXISTS (
    SELECT FROM queue WHERE queue.environment_id = walk.environment_id AND queue.lane_no = walk.lane_no AND queue.lane_no <> ${TIMER_LANE_NO}
      AND due_at <= $1)
  UNION ALL SELECT ${TIMER_LANE_NO} WHERE EXISTS (SELECT FROM queue WHERE lane_no = ${TIMER_LANE_NO} AND rank <= $1 AND due_at <= $1)`;

export class Signals {
  readonly eventListeners = new Set<() => void>();
  readonly queueListeners = new Set<QueueListener>();
  readonly runListeners = new Set<(runNos: readonly RunNo[]) => void>();
  readonly topicListeners = new Set<(topic: StoreTopic) => void>();
  /** Told when signals may have been missed. */
  readonly lossListeners = new Set<() => void>();
  readonly #database: Database;
  readonly #words: Words;
  readonly #node: string;
  readonly #waiting = new Map<string, number>();
  readonly #changedRuns = new Set<RunNo>();
  #client: Client | null = null;
  #isListening = false;
  #isGathering = false;
  #gathering: NodeJS.Timeout | null = null;
  /** By `performance.now()`. */
  #sentAt = 0;
  #reconnecting: NodeJS.Timeout | null = null;
  #looking: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(database: Database, words: Words, node: string) {
    this.#database = database;
    this.#words = words;
    this.#node = node;
  }

  async start(): Promise<void> {
    this.#looking = setInterval(() => void this.#look(), LOOK_INTERVAL_MS).unref();
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of [this.#gathering, this.#reconnecting, this.#looking]) if (timer) clearTimeout(timer);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  /** Whether this node is told what others do. */
  get isListening(): boolean {
    return this.#isListening;
  }

  eventsStored(): void {
    for (const listener of this.eventListeners) listener();
    this.#send("events", 0);
  }

  runsChanged(runNos: readonly RunNo[]): void {
    for (const listener of this.runListeners) listener(runNos);
    for (const runNo of runNos) this.#changedRuns.add(runNo);
    this.#gather();
  }

  entryUnheld(lane: string, dueAt: number): void {
    for (const listener of this.queueListeners) listener(lane, dueAt);
    const laneNo = this.#words.knownLaneNo(lane);
    if (laneNo !== undefined) this.#send(`queue ${laneNo}`, dueAt);
  }

  /** Of several signals about one lane the earliest counts. */
  #send(what: string, dueAt: number): void {
    this.#waiting.set(what, Math.min(dueAt, this.#waiting.get(what) ?? dueAt));
    this.#gather();
  }

  #gather(): void {
    if (this.#stopped || this.#isGathering) return;
    this.#isGathering = true;
    const restMs = GATHER_MS - (performance.now() - this.#sentAt);
    if (restMs <= 0) setImmediate(() => this.#notify());
    else this.#gathering = setTimeout(() => this.#notify(), restMs);
  }

  #notify(): void {
    this.#isGathering = false;
    if (this.#stopped) return;
    this.#sentAt = performance.now();
    const payloads = [...this.#waiting].map(([key, due]) => `${key.split(" ")[0]} ${this.#node} ${key.split(" ")[1] ?? ""} ${due}`);
    const runs = [...this.#changedRuns];
    for (let n = 0; n < runs.length; n += RUNS_PER_SIGNAL) {
      payloads.push(`runs ${this.#node} ${runs.slice(n, n + RUNS_PER_SIGNAL).join(",")}`);
    }
    this.#waiting.clear();
    this.#changedRuns.clear();
    this.#database.query(NOTIFY, [CHANNEL, payloads]).catch(() => {});
  }

  async #connect(): Promise<void> {
    const client = this.#database.dedicated();
    if (!client) return;
    client.on("error", () => this.#lose(client));
    client.on("end", () => this.#lose(client));
    client.on("notification", ({ payload }) => void this.#hear(payload ?? ""));
    try {
      this.#client = client;
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      this.#isListening = this.#client === client;
    } catch {
      this.#lose(client);
    }
  }

  /** What was said meanwhile is lost: everybody looks for themselves once the connection is back. */
  #lose(client: Client): void {
    if (this.#client !== client || this.#stopped) return;
    this.#client = null;
    this.#isListening = false;
    for (const listener of this.lossListeners) listener();
    client.end().catch(() => {});
    this.#reconnecting = setTimeout(() => void this.#connect().then(() => this.#client && this.#look()), RECONNECT_MS).unref();
  }

  async #hear(payload: string): Promise<void> {
    const [what = "", node, lane = "", dueAt = "0"] = payload.split(" ");
    if (node === this.#node) return;
    if (what === "events") for (const listener of this.eventListeners) listener();
    else if (what === "runs") {
      const runNos = lane.split(",").map((no) => Number(no) as RunNo);
      for (const listener of this.runListeners) listener(runNos);
    } else if (what === "queue") await this.#ringLanes([Number(lane)], Number(dueAt)).catch(() => {});
    else for (const listener of this.topicListeners) listener(what as StoreTopic);
  }

  async #look(): Promise<void> {
    try {
      // A connection that hangs without an error is noticed by this.
      await this.#client?.query("SELECT 1").catch(() => this.#client && this.#lose(this.#client));
      await this.#database.readClock();
      const now = this.#database.now();
      const lanes = await this.#database.query<{ lane_no: number }>(LANES_DUE, [now]);
      await this.#ringLanes(
        lanes.map(({ lane_no }) => lane_no),
        now,
      );
      for (const listener of this.eventListeners) listener();
      for (const listener of this.topicListeners) for (const topic of ["directory", "registry"] as const) listener(topic);
    } catch {
      // The next look will tell.
    }
  }

  async #ringLanes(numbers: readonly number[], dueAt: number): Promise<void> {
    const keys = await this.#words.laneKeys(numbers);
    for (const no of numbers) {
      const lane = keys.get(no) ?? TIMER_LANE;
      for (const listener of this.queueListeners) listener(lane, dueAt);
    }
  }
}
