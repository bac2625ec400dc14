/**
 * Pausing functions: while one is paused, or its environment archived, its runs are created and wait, and unfinished runs stop before
 * their next call. Nodes learn of a change shortly after it; one that does not know it yet may hold a call after the function has
 * resumed, so held calls are checked again a little later.
 */

import type { Executor } from "../execute/executor.ts";
import type { Registry } from "../fan-out/registry.ts";
import { type Environment, type RunChange, type RunState, type Store, sharedRefresh } from "../store/contract/index.ts";

export interface PauseFunctionsParts {
  store: Store;
  registry: Registry;
  executor: Executor;
  cancel(state: RunState): RunChange;
  now(): number;
  onFault(error: unknown): void;
}

const UNHELD_AT_ONCE = 500;
const POLL_INTERVAL_MS = 2_000;

export class PauseFunctions {
  readonly #parts: PauseFunctionsParts;
  #polling: Promise<void> = Promise.resolve();
  /** One at a time, which began after the last call. */
  readonly #unholdShared = sharedRefresh(() => this.#unhold());
  #again: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: PauseFunctionsParts) {
    this.#parts = parts;
  }

  /** Functions may have been paused or resumed, on any node. */
  refresh(): void {
    if (this.#isStopped) return;
    this.#poll();
    this.#again ??= setTimeout(() => {
      this.#again = null;
      this.#poll();
    }, POLL_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#again) clearTimeout(this.#again);
    await this.#polling;
  }

  /** False if there is no such function. */
  async pause(environment: Environment, id: string): Promise<boolean> {
    const { store, registry, now } = this.#parts;
    const known = registry.functionWithId(environment.id, id);
    if (!known) return false;
    // What this node knows may be outdated: another may just have resumed it. The store keeps the time of an earlier pause.
    await store.functionPause({ environmentId: environment.id, functionNo: known.no, pausedAt: now() });
    await registry.refresh();
    return true;
  }

  async resume(environment: Environment, id: string, held: "keep" | "cancel"): Promise<boolean> {
    const { store, registry } = this.#parts;
    // A function that its app does not register any more may have runs that wait.
    const known = registry.everyFunction(environment.id).find((registered) => registered.id === id);
    if (!known) return false;
    if (held === "cancel") await this.#cancelHeld(environment.id, known.no);
    await store.functionPause({ environmentId: environment.id, functionNo: known.no, pausedAt: null });
    await registry.refresh();
    await this.#polling;
    return true;
  }

  /** A cancelled run has no call. Runs that had ended before keep theirs, which are removed once the function goes on. */
  async #cancelHeld(environmentId: Environment["id"], functionNo: Parameters<Store["queueHeldRuns"]>[0]["functionNo"]): Promise<void> {
    const { store, executor, cancel } = this.#parts;
    for (;;) {
      const runNos = await store.queueHeldRuns({ environmentId, functionNo, limit: UNHELD_AT_ONCE });
      if (runNos.length === 0) return;
      const cancelled = await Promise.all(runNos.map((no) => executor.change({ environmentId, no }, cancel)));
      if (!cancelled.includes(true)) return;
    }
  }

  #poll(): void {
    this.#polling = this.#unholdShared().catch(this.#parts.onFault);
  }

  async #unhold(): Promise<void> {
    const { store, now } = this.#parts;
    while ((await store.queueUnhold({ now: now(), limit: UNHELD_AT_ONCE })) === UNHELD_AT_ONCE);
  }
}
