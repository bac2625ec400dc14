/** A scenario played: processes come and go over one store, while events arrive and apps answer. Ends when nothing is left to do. */

import type { EnvironmentId } from "@inlet/protocol";
import {
  type Approval,
  type EventCursor,
  type Job,
  type RunDetails,
  type Store,
  type StoredEvent,
  USAGE_KINDS,
  type UsageHour,
  type WebhookRequest,
} from "../../src/store/contract/index.ts";
import type { EdgeResponse } from "./apps/own-app.ts";
import { type SimApp, serveApp } from "./apps/serve-app.ts";
import type { Ask } from "./deeds/doing.ts";
import { readAll, type SimStores, type StoreContent } from "./folders.ts";
import { Journal } from "./journal.ts";
import { Limits } from "./limits.ts";
import { Network } from "./network.ts";
import { SimNode } from "./node.ts";
import { People } from "./people.ts";
import type { Operated } from "./process.ts";
import { Random } from "./random.ts";
import { releaseHolds } from "./release-holds.ts";
import { leftOver, Removals } from "./removals.ts";
import { APPS, BRANCH, fullId, hasBranch, hasJobs, REAL_TELLING_MS, removes, type Scenario, type SdkName } from "./scenario.ts";
import { CommittedSteps } from "./store-tap.ts";
import type { Trace } from "./trace.ts";
import { after, fireNext, nextTimerAt, now, pass, settle, turn } from "./virtual-time.ts";

/** Longer than anything waits: what goes on does something within this time, however many runs wait behind one another. */
const REST_MAX_MS = 6 * 3_600_000;
/**
 * In real time, nothing happens any more if so many looks at the store find the same. Time says nothing: on a machine that is starved of
 * processor time, one write takes minutes, but the looks wait as long for the same store.
 */
const REAL_LOOKS_MAX = 1_500;
const REAL_PASS_MS = 25;
/** Nodes are killed and started to the moment. To look at the store as often would be most of what a play costs. */
const REAL_LOOKS_EVERY = 8;
/** What was answered so long ago has been written, if the store works; a write is tried again for a while when connections break. */
const REAL_SETTLE_MS = 1_000;
const REAL_REWRITE_MS = 10_000;
const NEAR_MS = 50;
const LOOKS_EVERY = 40;
const JOBS_MAX = 100;
const PAGE = 500;
const DAY_MS = 86_400_000;
/** Connections to the store may break meanwhile. */
const REGISTRATIONS_MAX = 10;
/** Far more than any scenario needs. */
const CALLS_MAX = 20_000;

export interface Played {
  scenario: Scenario;
  journal: Journal;
  runs: RunDetails[];
  events: StoredEvent[];
  functionIds: ReadonlyMap<number, string>;
  jobs: Job[];
  /** How often the environment changed its database. */
  moves: number;
  approvals: Approval[];
  /** Those of the webhook, as they were recorded. */
  requests: WebhookRequest[];
  /** Of the environment, its keys, webhooks and functions. */
  usage: UsageHour[];
  /** The environment that events are mirrored to; null: none. */
  branch: Pick<StoreContent, "runs" | "events"> | null;
  /** Jobs of that environment. */
  drills: Job[];
  /** Numbers of what was erased that are still in the store. */
  traces: number[];
  /** How much is left when all that has ended is removed; null: nothing is removed. */
  left: { runs: number; events: number } | null;
}

export class World {
  readonly scenario: Scenario;
  readonly journal = new Journal();
  readonly #removals = new Removals(this.journal);
  readonly #stores: SimStores;
  readonly #apps: ReadonlyMap<SdkName, SimApp>;
  readonly #nodes: readonly SimNode[];
  readonly #random: Random;
  readonly #startedAt = now();
  readonly #hasHolds: boolean;
  readonly #people: People;
  #settledAt = now();
  #asked = 0;
  #progress = 0;
  #progressAt = now();
  /** How often the store was looked at since then. */
  #looksSince = 0;

  constructor(scenario: Scenario, stores: SimStores, trace: Trace | null = null) {
    const { seed, functions, network: faults, callTimeoutMs: timeoutMs } = scenario;
    const { journal } = this;
    this.scenario = scenario;
    this.#stores = stores;
    this.#random = new Random(seed, "order");
    this.#apps = new Map(APPS.filter((sdk) => functions.some((fn) => fn.sdk === sdk)).map((sdk) => [sdk, this.#serve(sdk)]));
    journal.tellingMs = scenario.isRealTime ? REAL_TELLING_MS : 0;
    const limits = new Limits(functions, journal, scenario.nodes ?? 1);
    const network = new Network({ seed, faults, timeoutMs, apps: this.#apps, journal, limits, cuts: scenario.cuts ?? {} });
    let processes = 0;
    const settledAt = () => (scenario.isRealTime ? now() - (scenario.connectionCuts ? REAL_REWRITE_MS : REAL_SETTLE_MS) : this.#settledAt);
    const node = {
      scenario,
      stores,
      network,
      journal,
      committed: new CommittedSteps(journal),
      removals: this.#removals,
      startedAt: this.#startedAt,
      settledAt,
      trace,
    };
    this.#nodes = Array.from({ length: scenario.nodes ?? 1 }, () => new SimNode({ ...node, newProcessNo: () => ++processes }));
    const ask: Ask = (path, request) => this.#ask("own", `http://service${path}`, request);
    this.#people = new People({
      scenario,
      journal,
      startedAt: this.#startedAt,
      ask,
      nextNode: () => this.#nextNode(),
    });
    this.#hasHolds = functions.some(({ flow }) => flow.ordering?.onFailure === "hold");
  }

  async play(): Promise<Played> {
    const [first, ...others] = this.#nodes as [SimNode, ...SimNode[]];
    await first.start();
    if (hasBranch(this.scenario)) await createBranch(first);
    for (const [sdk, app] of this.#apps) await this.#register(sdk, app);
    for (const node of others) await node.start();
    this.#people.begin();
    this.#stores.startMoves?.();
    for (const outage of this.scenario.outages) after(outage.atMs, () => (this.#nodes[outage.node ?? 0] as SimNode).plan(outage));
    await (this.scenario.isRealTime ? this.#watch() : this.#drive());
    return this.#end();
  }

  async #end(): Promise<Played> {
    const { journal, scenario } = this;
    const processes = this.#nodes.flatMap(({ process }) => process ?? []);
    const [reading] = processes;
    if (!reading) throw new Error("no process was left");
    for (const process of processes) process.end();
    const moves = (await this.#stores.endMoves?.()) ?? 0;
    const { environmentId } = reading;
    const store = this.#stores.operator(reading.store);
    const functionIds = new Map((await store.functionList()).map(({ no, id }) => [no as number, id]));
    const jobs = (await store.jobList({ environmentId, limit: JOBS_MAX })).jobs.filter(({ kind }) => kind !== "environments.move");
    const approvals = await listApprovals(store, environmentId);
    const requests = await listRequests(store, environmentId);
    const usage = await listUsage(store, environmentId);
    const isRemoving = removes(scenario) && !scenario.isRealTime;
    const removals = this.#removals;
    if (isRemoving) await removals.remember(store, environmentId);
    const left = isRemoving ? await leftOver(store, environmentId) : null;
    const home = (await store.environmentList()).find(({ name }) => name === BRANCH);
    const branch = home ? await readAll(store, home.id) : null;
    const drills = home ? (await store.jobList({ environmentId: home.id, limit: JOBS_MAX })).jobs : [];
    const traces = await this.#stores.traces(
      reading.store,
      journal.erasures.map(({ n }) => n),
    );
    const { runs, events, broken } = await this.#stores.read({ store: reading.store, environmentId });
    for (const process of processes) if (process !== reading) this.#stores.crash(process.store);
    for (const fault of broken) journal.fault(fault);
    return {
      functionIds,
      scenario,
      journal,
      moves,
      jobs,
      approvals,
      requests,
      usage,
      branch,
      drills,
      traces,
      left,
      runs: removals.withRuns(environmentId, runs),
      events: removals.withEvents(environmentId, events),
    };
  }

  /** Virtual time: on to the next timer, whenever nothing else is left to happen. */
  async #drive(): Promise<void> {
    for (let looks = 0; ; looks++) {
      await settle();
      this.#settledAt = now();
      for (const node of this.#nodes) await node.maintain();
      if (looks % LOOKS_EVERY === 0) {
        if (await this.#isDone()) return;
        await this.#release();
      }
      if (this.#isEndless()) return;
      fireNext();
      await this.#jumble();
    }
  }

  /** Real time: it passes by itself. */
  async #watch(): Promise<void> {
    for (let passes = 0; ; passes++) {
      for (const node of this.#nodes) await node.maintain();
      if (passes % REAL_LOOKS_EVERY === 0) {
        await this.#look();
        if ((await this.#isDone()) || this.#isEndless()) return;
        await this.#release();
      }
      await pass(REAL_PASS_MS);
    }
  }

  /** Takes as long as the store takes to answer. */
  async #look(): Promise<void> {
    const process = this.#nodes.find(({ isSteady }) => isSteady)?.process;
    if (process) await this.#stores.operator(process.store).queueLanes();
  }

  async #release(): Promise<void> {
    const process = this.#nodes.find(({ isSteady }) => isSteady)?.process;
    if (process && this.#hasHolds) await releaseHolds(this.#stores.operator(process.store), process.environmentId, this.journal);
  }

  /** Some more timers go off before all that follows from the first has happened. */
  async #jumble(): Promise<void> {
    while (this.#random.chance(this.scenario.jumble) && (nextTimerAt() ?? Number.POSITIVE_INFINITY) <= now() + NEAR_MS) {
      for (let turns = this.#random.int(0, 4); turns > 0; turns--) await turn();
      fireNext();
    }
  }

  async #isDone(): Promise<boolean> {
    if (this.#people.left > 0 || !this.#nodes.every(({ isSteady }) => isSteady)) return false;
    const process = this.#nodes[0]?.process;
    if (!process) return false;
    const store = this.#stores.operator(process.store);
    if ((await store.queueLanes()).length > 0) return false;
    if (this.scenario.hooks?.length && (await store.mirrorList({ limit: 1 })).length > 0) return false;
    if (!hasJobs(this.scenario)) return true;
    const lists = (await store.environmentList()).map(({ id }) => store.jobList({ environmentId: id, limit: JOBS_MAX }));
    return (await Promise.all(lists)).every(({ jobs }) => jobs.every(({ endedAt }) => endedAt !== null));
  }

  #isEndless(): boolean {
    const { calls, endedRuns } = this.journal;
    const progress = calls.length + endedRuns.size - this.#people.left;
    if (progress !== this.#progress) {
      this.#progressAt = now();
      this.#looksSince = 0;
    }
    this.#progress = progress;
    this.#looksSince++;
    if (calls.length > CALLS_MAX) this.journal.fault(`apps are called without end: ${CALLS_MAX} times by now`);
    else if (this.#rests()) this.journal.fault("something rests for ever: see the runs that have not ended");
    else return false;
    return true;
  }

  #rests(): boolean {
    if (this.scenario.isRealTime) return this.#looksSince > REAL_LOOKS_MAX;
    const at = nextTimerAt();
    return at === null || at > this.#progressAt + REST_MAX_MS;
  }

  #serve(sdk: SdkName): SimApp {
    const { functions, ignoreUseApi = false } = this.scenario;
    const idOf = (id: string) => fullId(functions.find((fn) => fn.id === id) ?? { sdk: "own", id });
    const own = functions.filter((fn) => fn.sdk === sdk);
    const edge = (url: string, init: { headers: Record<string, string>; body?: string }) => this.#ask(sdk, url, init);
    return serveApp({ sdk, functions: own, idOf, journal: this.journal, ignoresUseApi: ignoreUseApi, edge });
  }

  /** Of the nodes that are up, one after the other. */
  #nextNode(): SimNode {
    const up = this.#nodes.filter(({ process }) => process !== null);
    return up[this.#asked++ % Math.max(up.length, 1)] ?? (this.#nodes[0] as SimNode);
  }

  async #ask(sdk: string, url: string, { headers, body = "" }: { headers: Record<string, string>; body?: string }): Promise<EdgeResponse> {
    const { pathname } = new URL(url);
    const home = sdk === "mirror" ? { "x-service-env": BRANCH } : {};
    const answer = await this.#nextNode().ask(
      pathname,
      { ...headers, ...home, "x-simulated-sdk": sdk === "v3" || sdk === "v4" ? "inngest" : "service" },
      body,
    );
    if (pathname === "/v1/signals" && answer.status === 200) this.#people.noteSignal(body, await answer.text());
    return answer;
  }

  async #register(sdk: SdkName, app: SimApp): Promise<void> {
    const request = { method: "PUT", url: `http://${sdk}/api`, headers: {}, body: "{}" } as const;
    for (let tries = 1; ; tries++) {
      const answer = await app.handle(request, undefined as never);
      if (answer.status === 200) return;
      if (tries === REGISTRATIONS_MAX) throw new Error(`app ${sdk} could not register: ${answer.body}`);
      // A database that is away is back when it is next asked.
      if (this.scenario.isRealTime) await pass(REAL_SETTLE_MS);
    }
  }
}

async function listApprovals(store: Store, environmentId: EnvironmentId): Promise<Approval[]> {
  const all: Approval[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page: Awaited<ReturnType<Store["approvalList"]>> = await store.approvalList({
      environmentId,
      now: now(),
      limit: PAGE,
      ...(after && { after }),
    });
    all.push(...page.approvals);
    after = page.next;
  }
  return all;
}

async function listRequests(store: Store, environmentId: EnvironmentId): Promise<WebhookRequest[]> {
  const all: WebhookRequest[] = [];
  for (const { id: webhookId } of await store.webhookList())
    for (let after: EventCursor | null | undefined; after !== null; ) {
      const params = { environmentId, webhookId, limit: PAGE, ...(after && { after }) };
      const page: Awaited<ReturnType<Store["webhookRequestList"]>> = await store.webhookRequestList(params);
      all.push(...page.requests);
      after = page.next;
    }
  return all;
}

async function listUsage(store: Store, environmentId: EnvironmentId): Promise<UsageHour[]> {
  const [from, to] = [0, now() + DAY_MS];
  const lists = USAGE_KINDS.map((kind) => store.usageList({ environmentIds: [environmentId], kind, from, to, intervalMs: DAY_MS }));
  return (await Promise.all(lists)).flat();
}

/** Again, if the connection to the store breaks: one that exists already is not created twice. */
async function createBranch(node: SimNode): Promise<void> {
  const create = async ({ store, directory }: Operated) => {
    await store.environmentInsert({ name: BRANCH, kind: "branch", bodyBytesMax: null, createdAt: now() });
    await directory.refresh();
  };
  for (let tries = 1; ; tries++) {
    const error = await node.operate(create).then(
      () => null,
      (fault: unknown) => fault,
    );
    if (error === null) return;
    if (tries === REGISTRATIONS_MAX) throw error;
  }
}
