/** A scenario played: processes come and go over one store, while events arrive and apps answer. Ends when nothing is left to do. */

import type { RunDetails, StoredEvent } from "../../src/store/contract/index.ts";
import type { EdgeAnswer } from "./apps/own-app.ts";
import { type SimApp, serveApp } from "./apps/serve-app.ts";
import type { SimStores } from "./folders.ts";
import { Journal } from "./journal.ts";
import { Limits } from "./limits.ts";
import { Network } from "./network.ts";
import { SimProcess } from "./process.ts";
import { Random } from "./random.ts";
import { fullId, type Outage, type Scenario, SDKS, type SdkName, type SimEvent } from "./scenario.ts";
import { CommittedSteps } from "./store-tap.ts";
import { after, fireNext, nextTimerAt, now, pass, settle, turn } from "./virtual-time.ts";

/** After the last event everything must have ended within this time. */
const REST_MAX_MS = 6 * 3_600_000;
const NEAR_MS = 50;
const RESEND_MS = 500;
/** An answer that could not be written is tried again within this time after the store works. */
const REWRITE_MS = 6_000;
const LOOKS_EVERY = 40;
/** Far more than any scenario needs. */
const CALLS_MAX = 20_000;

export interface Played {
  scenario: Scenario;
  journal: Journal;
  runs: RunDetails[];
  events: StoredEvent[];
  functionIds: ReadonlyMap<number, string>;
  startedAt: number;
  endedAt: number;
}

export class World {
  readonly scenario: Scenario;
  readonly journal = new Journal();
  readonly #stores: SimStores;
  readonly #network: Network;
  readonly #apps: ReadonlyMap<SdkName, SimApp>;
  readonly #committed: CommittedSteps;
  readonly #random: Random;
  readonly #asks = new Set<(error: Error) => void>();
  readonly #startedAt = now();
  #process: SimProcess | null = null;
  #processes = 0;
  #outage: Outage | null = null;
  #isDraining = false;
  #isDrained = false;
  #isStartDue = false;
  #unsent: number;
  #settledAt = now();

  constructor(scenario: Scenario, stores: SimStores) {
    const { seed, functions, network: faults, callTimeoutMs: timeoutMs } = scenario;
    this.scenario = scenario;
    this.#stores = stores;
    this.#committed = new CommittedSteps(this.journal);
    this.#random = new Random(seed, "order");
    const idOf = (id: string) => fullId(functions.find((fn) => fn.id === id) ?? { sdk: "own", id });
    const app = (sdk: SdkName): [SdkName, SimApp] => {
      const own = functions.filter((fn) => fn.sdk === sdk);
      return [sdk, serveApp({ sdk, functions: own, idOf, journal: this.journal, ignoresUseApi: scenario.ignoreUseApi === true, edge: (url, init) => this.#ask(sdk, url, init) })];
    };
    this.#apps = new Map(SDKS.filter((sdk) => functions.some((fn) => fn.sdk === sdk)).map(app));
    const limits = new Limits(functions, this.journal);
    this.#network = new Network({ seed, faults, timeoutMs, apps: this.#apps, journal: this.journal, limits, cuts: scenario.cuts ?? {} });
    this.#unsent = scenario.events.length;
  }

  async play(): Promise<Played> {
    await this.#start();
    for (const [sdk, app] of this.#apps) await this.#register(sdk, app);
    for (const event of this.scenario.events) after(event.atMs, () => void this.#send(event));
    for (const outage of this.scenario.outages) after(outage.atMs, () => (this.#outage ??= outage));
    await this.#drive();
    const { journal, scenario } = this;
    const process = this.#process as SimProcess;
    const { environmentId, store } = process;
    const endedAt = now();
    process.end();
    const functions = await store.functionList();
    const functionIds = new Map(functions.map(({ no, id }) => [no as number, id]));
    const { runs, events, broken } = await this.#stores.read({ store, environmentId });
    for (const fault of broken) journal.fault(fault);
    return { functionIds, scenario, journal, runs, events, startedAt: this.#startedAt, endedAt };
  }

  async #drive(): Promise<void> {
    const lastAt = this.#startedAt + Math.max(0, ...this.scenario.events.map(({ atMs }) => atMs), ...this.scenario.outages.map(({ atMs, downMs }) => atMs + downMs));
    for (let looks = 0; ; looks++) {
      await settle();
      this.#settledAt = now();
      if (this.#isDrained) await this.#stopped();
      if (this.#isStartDue) await this.#start();
      if (looks % LOOKS_EVERY === 0 && (await this.#isDone())) return;
      const next = nextTimerAt();
      if (this.journal.calls.length > CALLS_MAX) return this.journal.fault(`apps are called without end: ${CALLS_MAX} times by now`);
      if (next === null || next > lastAt + REST_MAX_MS) return this.journal.fault("something rests for ever: see the runs that have not ended");
      await this.#goOn();
    }
  }

  /** The next timer, and perhaps some more before all that follows from it has happened. */
  async #goOn(): Promise<void> {
    fireNext();
    while (this.#random.chance(this.scenario.jumble) && (nextTimerAt() ?? Number.POSITIVE_INFINITY) <= now() + NEAR_MS) {
      for (let turns = this.#random.int(0, 4); turns > 0; turns--) await turn();
      fireNext();
    }
    if (this.#outage) await this.#fail(this.#outage);
  }

  async #isDone(): Promise<boolean> {
    if (this.#unsent > 0 || !this.#process || this.#isDraining || this.#outage) return false;
    return (await this.#process.store.queueLanes()).length === 0;
  }

  async #start(): Promise<void> {
    this.#isStartDue = false;
    const no = ++this.#processes;
    this.#process = await SimProcess.start({
      openStore: () => this.#stores.open(),
      caller: this.#network.callerOf(no),
      callTimeoutMs: this.scenario.callTimeoutMs,
      committed: this.#committed,
      isRefusing: () => this.#isRefusing(0),
      onLog: (line) => this.#noteLog(line),
    });
  }

  /** What the service calls an error of its own is one. */
  #noteLog(line: string): void {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message: string; stack: string; type: string } };
    if (level < 50 || err?.type === "StoreUnavailable") return;
    this.journal.fault(`the service logged an error: ${msg} ${err?.stack ?? ""}`);
  }

  async #fail({ kind, turns, downMs }: Outage): Promise<void> {
    const process = this.#process;
    this.#outage = null;
    if (!process || this.#isDraining) return;
    if (kind === "stop") {
      this.#isDraining = true;
      void process.drain().then(() => (this.#isDrained = true));
      after(downMs, () => undefined);
      this.#downMs = downMs;
      return;
    }
    for (let n = 0; n < turns; n++) await turn();
    this.#stores.crash(process.store);
    process.end();
    this.#gone("killed", downMs);
  }

  #downMs = 0;

  async #stopped(): Promise<void> {
    const process = this.#process as SimProcess;
    this.#isDraining = false;
    this.#isDrained = false;
    process.end();
    await this.#stores.close(process.store);
    this.#gone("stopped", this.#downMs);
  }

  #gone(fate: "killed" | "stopped", downMs: number): void {
    this.#process = null;
    this.#network.kill(this.#processes);
    const isLost = fate === "killed" || this.#isRefusing(REWRITE_MS);
    const { refusals } = this.scenario;
    const refusedSince = refusals.map(({ atMs }) => this.#startedAt + atMs).find(() => this.#isRefusing(REWRITE_MS));
    if (isLost) this.journal.loseSince(Math.min(this.#settledAt, refusedSince ?? this.#settledAt), fate);
    for (const reject of this.#asks) reject(new Error("socket hang up"));
    this.#asks.clear();
    after(downMs, () => (this.#isStartDue = true));
  }

  #isRefusing(afterMs: number): boolean {
    const at = now() - this.#startedAt;
    return this.scenario.refusals.some(({ atMs, forMs }) => at >= atMs && at < atMs + forMs + afterMs);
  }

  /** Resolves with what the service says; rejects when it is not there, or dies. */
  #ask(sdk: string, url: string, { headers, body = "" }: { headers: Record<string, string>; body?: string }): Promise<EdgeAnswer> {
    const process = this.#process;
    if (!process) return Promise.reject(new Error("connect ECONNREFUSED"));
    const path = new URL(url).pathname;
    return new Promise((resolve, reject) => {
      this.#asks.add(reject);
      process
        .ask(path, { ...headers, "x-simulated-sdk": sdk === "own" ? "service" : "inngest" }, body)
        .then(resolve, reject)
        .finally(() => this.#asks.delete(reject));
    });
  }

  async #register(sdk: SdkName, app: SimApp): Promise<void> {
    const request = { method: "PUT", url: `http://${sdk}/api`, headers: {}, body: "{}" } as const;
    const answer = await app.handle(request, undefined as never);
    if (answer.status !== 200) throw new Error(`app ${sdk} could not register: ${answer.body}`);
  }

  /** Sends until it is known to be accepted, always under the same seed. */
  async #send({ name, key, n }: SimEvent): Promise<void> {
    const seed = `${this.#startedAt + n},${Buffer.from(String(n).padStart(10, "0")).toString("base64")}`;
    const body = JSON.stringify({ name, data: { k: key, n } });
    const headers = { "content-type": "application/json", "x-inngest-event-id-seed": seed };
    for (;;) {
      const answer = await this.#ask("own", "http://service/e/event-key", { headers, body }).catch(() => null);
      if (answer?.status === 200) break;
      if (answer && answer.status !== 503) this.journal.fault(`event ${n} was refused: ${await answer.text()}`);
      await pass(RESEND_MS);
    }
    this.#unsent--;
  }
}
