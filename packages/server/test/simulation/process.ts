/**
 * One process of the service: the store of a folder, functions.ts over it, and the edge at which events, checkpoints and registrations
 * arrive. It can be stopped in order, or killed: then it does nothing more, and what it leaves is what a copy of its files holds.
 */

import { createEventIdGenerator, errorBody, Refusal, type RunId } from "@inlet/protocol";
import { type Logger, pino } from "pino";
import { bootstrap, defaultEnvironmentOf } from "../../src/bootstrap.ts";
import { readConfig } from "../../src/config/config.ts";
import { createDedupWindow } from "../../src/deduplicate/dedup-window.ts";
import { createEventLife, type EventLife } from "../../src/event-life.ts";
import { createFunctions, type Functions } from "../../src/functions.ts";
import { RefusalLog } from "../../src/observe/refusal-log.ts";
import { Traffic } from "../../src/observe/traffic.ts";
import { Directory } from "../../src/receive/senders/directory.ts";
import { type Store, StoreUnavailable } from "../../src/store/contract/index.ts";
import type { EdgeAnswer } from "./apps/own-app.ts";
import { CALLS_PER_APP } from "./limits.ts";
import type { SimCaller } from "./network.ts";
import { type CommittedSteps, tapStore } from "./store-tap.ts";
import { after, type Life, lives, now } from "./virtual-time.ts";

export interface ProcessParts {
  openStore(): Promise<Store>;
  caller: SimCaller;
  callTimeoutMs: number;
  writeMs: number;
  /** Null: the default. */
  leaseMs: number | null;
  /** Null: by the backoff table. */
  retryMs: number | null;
  committed: CommittedSteps;
  isRefusing(): boolean;
  onLog(line: string): void;
}

const ANY_AMOUNT = { take: () => true, give: () => undefined };

export class SimProcess {
  readonly life: Life = { isDead: false };
  readonly store: Store;
  readonly functions: Functions;
  readonly #directory: Directory;
  readonly #eventLife: EventLife;
  readonly #environment: string;
  readonly #log: Logger;
  #isOpen = true;

  static async start(parts: ProcessParts): Promise<SimProcess> {
    const life: Life = { isDead: false };
    return lives.run(life, async () => {
      const store = await parts.openStore();
      // What goes wrong while it starts is not simulated: the process would be started again until it works.
      let isUp = false;
      const tapped = tapStore({
        store,
        life,
        committed: parts.committed,
        isRefusing: () => isUp && parts.isRefusing(),
        writeMs: parts.writeMs,
      });
      const process = new SimProcess(life, store, tapped, parts);
      await bootstrap(tapped, configOf(parts), process.#log, now);
      await process.#directory.refresh();
      await process.functions.open();
      await process.functions.start(0);
      isUp = true;
      return process;
    });
  }

  private constructor(life: Life, store: Store, tapped: Store, parts: ProcessParts) {
    const config = configOf(parts);
    const log = pino({ level: "warn" }, { write: (line: string) => parts.onLog(line) });
    const defaultEnvironment = defaultEnvironmentOf(config);
    const traffic = new Traffic({ store: tapped, log, now });
    const eventIds = createEventIdGenerator();
    const directory = new Directory(tapped);
    const functions = createFunctions({
      ...{
        config,
        store: tapped,
        directory,
        eventIds,
        defaultEnvironment,
        liveLog: null,
        metrics: null,
        tracing: null,
        traffic,
        log,
        caller: parts.caller,
      },
      dedupWindow: createDedupWindow(config.dedupWindow),
      clock: { now, after },
      signingKeys: () => [],
    });
    this.#log = log;
    this.life = life;
    this.store = store;
    this.functions = functions;
    this.#directory = directory;
    this.#environment = defaultEnvironment;
    this.#eventLife = createEventLife({
      mirror: { wake: () => undefined },
      ...{ directory, functions, traffic, defaultEnvironment, eventIds, now, store: tapped, metrics: null, tracing: null, liveLog: null },
      senders: { directory, placeholderEnvironment: defaultEnvironment, attempts: { waitS: () => null } },
      bodyBytesMax: config.bodyLimit,
      transforms: NO_TRANSFORMS,
      catalogue: { admit: (_, events) => events },
      maskedHeaders: new Set(),
      publicUrl: null,
      dedupWindow: createDedupWindow(config.dedupWindow),
      refusals: new RefusalLog(log),
    });
  }

  get environmentId() {
    return this.#environmentNow().id;
  }

  /** What an app or a sender asks of the service. Throws when nobody listens. */
  async ask(path: string, headers: Record<string, string>, body: string): Promise<EdgeAnswer> {
    if (this.life.isDead || !this.#isOpen) throw new Error("connect ECONNREFUSED");
    const answer = await lives.run(this.life, () => this.#answerTo(path, headers, body));
    // The connection is gone with the process.
    return this.life.isDead ? new Promise(() => undefined) : answer;
  }

  /** Throws when nobody listens, or the store does not work. */
  async pause(functionId: string, isPaused: boolean): Promise<void> {
    if (this.life.isDead || !this.#isOpen) throw new Error("connect ECONNREFUSED");
    const { registry } = this.functions;
    const environment = this.#environmentNow();
    const isKnown = await lives.run(this.life, () =>
      isPaused ? registry.pause(environment, functionId) : registry.resume(environment, functionId, "keep"),
    );
    if (!isKnown) throw new Error(`there is no function ${functionId}`);
  }

  /** The first half of a stop: calls under way may end, and what their apps ask for meanwhile is answered. */
  async drain(): Promise<void> {
    await lives.run(this.life, () => this.functions.stop());
  }

  /** Nothing it set out to do happens any more. Its store is still open. */
  end(): void {
    this.#isOpen = false;
    this.life.isDead = true;
  }

  async #answerTo(path: string, headers: Record<string, string>, body: string): Promise<EdgeAnswer> {
    const checkpoint = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(path);
    if (checkpoint) {
      const outcome = await this.functions.sdk.checkpoint(checkpoint[1] as RunId, body);
      return said(outcome instanceof Refusal ? outcome : null, "{}");
    }
    if (path === "/v1/signals") return this.#signal(JSON.parse(body) as { signal: string; data: unknown });
    const state = /^\/v0\/runs\/([^/]+)\/(batch|actions)$/.exec(path);
    if (state) return this.#state(state[1] as RunId, state[2] as "batch" | "actions");
    if (path.startsWith("/fn/register")) return this.#register(body, headers["x-simulated-sdk"] ?? "service");
    const keyText = path.slice("/e/".length);
    const readBody = async () => Buffer.from(body);
    const request = {
      method: "POST",
      target: path,
      keyText,
      query: "",
      headers,
      rawHeaders: [],
      ip: "127.0.0.1",
      readBody,
      memory: ANY_AMOUNT,
    };
    const outcome = await this.#eventLife(request);
    if (typeof outcome === "symbol") throw new Error("a send was aborted");
    if ("handshake" in outcome) throw new Error("a send was taken for a handshake");
    return outcome instanceof Refusal ? said(outcome, "") : said(null, JSON.stringify({ ids: outcome.ids, status: 200 }));
  }

  async #signal({ signal, data }: { signal: string; data: unknown }): Promise<EdgeAnswer> {
    try {
      const runId = await this.functions.signals.send(this.#environmentNow(), signal, JSON.stringify(data));
      if (runId === null) return said(new Refusal("signal_not_found", "No run waits for it."), "");
      return said(null, JSON.stringify({ data: { run_id: runId } }));
    } catch (error) {
      if (error instanceof StoreUnavailable) return said(new Refusal("store_unavailable", error.message), "");
      throw error;
    }
  }

  /** What a call could not carry. */
  async #state(id: RunId, part: "batch" | "actions"): Promise<EdgeAnswer> {
    const { runEvents, runSteps } = this.functions.sdk;
    const text = await (part === "batch" ? runEvents(id) : runSteps(id));
    return text === null ? said(new Refusal("run_state_gone", "It has ended."), "") : said(null, text);
  }

  async #register(body: string, sdk: string): Promise<EdgeAnswer> {
    const registration = { headers: sdk as "service" | "inngest", body: JSON.parse(body) as unknown, sdk, framework: null, deployId: null };
    const outcome = await this.functions.sdk.register({ environment: this.#environmentNow(), ...registration });
    if ("handshake" in outcome) throw new Error("a send was taken for a handshake");
    return outcome instanceof Refusal ? said(outcome, "") : said(null, JSON.stringify({ ok: true, modified: outcome.modified }));
  }

  #environmentNow() {
    const environment = this.#directory.environmentNamed(this.#environment);
    if (!environment) throw new Error("there is no default environment");
    return environment;
  }
}

function said(refusal: Refusal | null, text: string): EdgeAnswer {
  const takenAt = String(now());
  const body = refusal ? JSON.stringify(errorBody(refusal)) : text;
  const status = refusal ? refusal.status : 200;
  return { status, headers: { get: (name) => (name === "taken-at" ? takenAt : null) }, text: async () => body };
}

function configOf({ callTimeoutMs, retryMs, leaseMs }: ProcessParts) {
  const retries = retryMs === null ? [] : ["--retry-interval", `${retryMs}ms`];
  const leases = leaseMs === null ? [] : ["--lease", `${leaseMs}ms`];
  const flags = [...retries, ...leases, "--call-timeout", `${callTimeoutMs}ms`, "--app-calls", String(CALLS_PER_APP), "--discover", "off"];
  const keys = ["--event-key", "event-key", "--signing-key", `signkey-test-${"0a".repeat(32)}`, "--api-key", "api-key"];
  return readConfig("start", [...flags, ...keys], {});
}

const NO_TRANSFORMS = {
  start: () => undefined,
  stop: async () => undefined,
  run: () => Promise.reject(new Error("there are no webhooks here")),
  check: () => Promise.reject(new Error("there are no webhooks here")),
  load: { running: 0, waiting: 0, threads: 0 },
};
