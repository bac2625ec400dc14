/** One node of the service: a place where a process runs, is killed or stopped or cut off from its store, and is started again. */

import type { EdgeResponse } from "./apps/own-app.ts";
import type { SimStores } from "./folders.ts";
import type { Journal } from "./journal.ts";
import type { Network } from "./network.ts";
import { type Operated, SimProcess } from "./process.ts";
import type { Removals } from "./removals.ts";
import { hasJobs, type Outage, removes, type Scenario } from "./scenario.ts";
import type { CommittedSteps } from "./store-tap.ts";
import type { Trace } from "./trace.ts";
import { after, now, pass, turn } from "./virtual-time.ts";

/** A response that could not be written is tried again within this time after the store works. */
const REWRITE_MS = 6_000;
/** In real time, a busy node may take this long to write the outcome of a request. That of a call is known to be written, see Journal. */
const REAL_REWRITE_MS = 10_000;
/** How often old data is removed. */
const SWEEP_MS = 7_000;
const REAL_SWEEP_MS = 1_000;
const STARTS_MAX = 10;
const RESTART_MS = 1_000;

export interface NodeParts {
  scenario: Scenario;
  stores: SimStores;
  network: Network;
  journal: Journal;
  committed: CommittedSteps;
  removals: Removals;
  /** Null: nobody looks at it. */
  trace: Trace | null;
  /** Every process has a number of its own. */
  newProcessNo(): number;
  /** Since when everything that had happened by then is known to be written. */
  settledAt(): number;
  startedAt: number;
}

export class SimNode {
  readonly #parts: NodeParts;
  readonly #asks = new Set<(error: Error) => void>();
  #process: SimProcess | null = null;
  #processNo = 0;
  #outage: Outage | null = null;
  #cutOffUntil = 0;
  #stalledUntil = 0;
  /** How long it stays down after the stop under way; null: none is. */
  #stopping: { downMs: number; isDrained: boolean } | null = null;
  #isStartDue = false;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** Null while it is down. */
  get process(): SimProcess | null {
    return this.#process;
  }

  get isSteady(): boolean {
    return this.#process !== null && this.#stopping === null && this.#outage === null;
  }

  /** Again, if the store cannot be reached on a busy machine: whoever runs a service starts it until it is up. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const error = await this.#startOnce().then(
        () => null,
        (fault: unknown) => fault,
      );
      if (error === null) return;
      if (!this.#parts.scenario.isRealTime || tries === STARTS_MAX) throw error;
      await pass(RESTART_MS);
    }
  }

  async #startOnce(): Promise<void> {
    const { scenario, stores, network, committed, removals, journal, trace } = this.#parts;
    this.#isStartDue = false;
    this.#processNo = this.#parts.newProcessNo();
    const processNo = this.#processNo;
    trace?.note(processNo, "process starts");
    journal.processStarts.push(now());
    this.#process = await SimProcess.start({
      openStore: () => stores.open(),
      caller: network.callerOf(this.#processNo),
      callTimeoutMs: scenario.callTimeoutMs,
      retryMs: scenario.retryMs ?? null,
      leaseMs: scenario.leaseMs ?? null,
      writeMs: scenario.writeMs ?? 0,
      isRealTime: scenario.isRealTime ?? false,
      hasJobs: hasJobs(scenario),
      listed: journal.listed,
      hasMirrors: (scenario.hooks ?? []).length > 0,
      hasAlerts: (scenario.alerts ?? []).length > 0,
      hasMoves: stores.startMoves !== undefined,
      committed,
      removals,
      sweepMs: !removes(scenario) ? null : scenario.isRealTime ? REAL_SWEEP_MS : SWEEP_MS,
      isRefusing: () => now() < this.#cutOffUntil || this.#isRefusing(0),
      stallMs: () => this.#stalledUntil - now(),
      onLog: (line) => {
        trace?.note(processNo, "log", JSON.parse(line));
        noteLog(journal, line);
      },
      trace: trace && traceOf(trace, processNo),
    });
    stores.disturb(this.#process.store);
  }

  plan(outage: Outage): void {
    this.#outage ??= outage;
  }

  /** Does what is due: goes down, has gone down, comes up again. */
  async maintain(): Promise<void> {
    if (this.#outage) await this.#begin(this.#outage);
    if (this.#stopping?.isDrained) await this.#stopped(this.#stopping.downMs);
    if (this.#isStartDue) await this.start();
  }

  /** Resolves with what the service says; rejects when it is not there, or dies. */
  ask(path: string, headers: Record<string, string>, body: string): Promise<EdgeResponse> {
    return this.#reach((process) => process.ask(path, headers, body));
  }

  /** Resolves when the service has said that it is done; rejects as `ask` does. */
  operate<Result>(work: (at: Operated) => Promise<Result>): Promise<Result> {
    return this.#reach((process) => process.operate(work));
  }

  #reach<Result>(asked: (process: SimProcess) => Promise<Result>): Promise<Result> {
    const process = this.#process;
    if (!process) return Promise.reject(new Error("connect ECONNREFUSED"));
    return new Promise((resolve, reject) => {
      this.#asks.add(reject);
      asked(process)
        .then(resolve, reject)
        .finally(() => this.#asks.delete(reject));
    });
  }

  async #begin({ kind, turns, downMs }: Outage): Promise<void> {
    const process = this.#process;
    this.#outage = null;
    if (!process || this.#stopping) return;
    if (kind === "cut-off") return this.#cutOff(downMs);
    if (kind === "stall") return this.#stall(downMs);
    if (kind === "stop") {
      const stopping = { downMs, isDrained: false };
      this.#stopping = stopping;
      this.#parts.network.drain(this.#processNo);
      void process.drain().then(() => (stopping.isDrained = true));
      return;
    }
    for (let n = 0; n < turns; n++) await turn();
    this.#parts.stores.crash(process.store);
    process.end();
    this.#gone("killed", downMs);
  }

  /** It cannot reach its store, but its apps and they it. What it is answered meanwhile is written when it is back, or never. */
  #cutOff(forMs: number): void {
    const { journal, network, settledAt } = this.#parts;
    this.#cutOffUntil = now() + forMs;
    journal.loseSince(settledAt(), "stopped", this.#processNo);
    network.distrust(this.#processNo, this.#cutOffUntil + REWRITE_MS);
  }

  #stall(forMs: number): void {
    this.#stalledUntil = now() + forMs;
    this.#parts.network.distrust(this.#processNo, this.#stalledUntil + REWRITE_MS);
  }

  async #stopped(downMs: number): Promise<void> {
    const process = this.#process as SimProcess;
    this.#stopping = null;
    process.end();
    await this.#parts.stores.close(process.store);
    this.#gone("stopped", downMs);
  }

  #gone(fate: "killed" | "stopped", downMs: number): void {
    this.#parts.trace?.note(this.#processNo, `process is ${fate}`);
    const { network, journal, settledAt, startedAt, scenario } = this.#parts;
    this.#process = null;
    network.kill(this.#processNo);
    const isRefusing = this.#isRefusing(REWRITE_MS);
    const refusedSince = isRefusing ? startedAt + Math.min(...scenario.refusals.map(({ atMs }) => atMs)) : settledAt();
    if (scenario.isRealTime && fate === "killed") {
      journal.loseUnwritten(this.#processNo);
      journal.loseRequestsSince(now() - REAL_REWRITE_MS, fate, this.#processNo);
    } else if (fate === "killed" || isRefusing) journal.loseSince(Math.min(settledAt(), refusedSince), fate, this.#processNo);
    for (const reject of this.#asks) reject(new Error("socket hang up"));
    this.#asks.clear();
    after(downMs, () => (this.#isStartDue = true));
  }

  #isRefusing(afterMs: number): boolean {
    const at = now() - this.#parts.startedAt;
    return this.#parts.scenario.refusals.some(({ atMs, forMs }) => at >= atMs && at < atMs + forMs + afterMs);
  }
}

/** The store's own doing: CommitUnknown when the response to a commit is lost, EnvironmentMoved while an environment is held for its switch. */
const UNAVAILABLE: ReadonlySet<string> = new Set(["StoreUnavailable", "CommitUnknown", "EnvironmentMoved"]);

function traceOf(trace: Trace, processNo: number): (name: string, args: readonly unknown[]) => (answer: unknown) => void {
  return (name, args) => {
    const entry = trace.note(processNo, name, args.length > 1 ? args : args[0]);
    return (answer) => trace.end(entry, answer);
  };
}

/** What the service calls an error of its own is one. */
function noteLog(journal: Journal, line: string): void {
  const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { stack: string; type: string } };
  if (level < 50 || UNAVAILABLE.has(err?.type ?? "")) return;
  journal.fault(`the service logged an error: ${msg} ${err?.stack ?? ""}`);
}
