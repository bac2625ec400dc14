/**
 * The main thread's side of the read thread: one promise per call. The thread starts with the first read. If it dies, its calls fail and
 * it is replaced.
 */

import { Worker } from "node:worker_threads";
import { StoreUnavailable } from "../contract/index.ts";
import { translate } from "./failures.ts";
import type { ReadOperations, ReadParams, ReadResponse, ReadResult } from "./read-operations.ts";

interface Pending {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** Maximum number of waiting reads; further ones are refused at once. */
const PENDING_MAX = 1_000;

export class Reader {
  readonly #path: string;
  readonly #whereModule: URL | null;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  #calls = 0;
  #stopped = false;

  /** `whereModule` exports `compileWhere`. */
  constructor(path: string, whereModule: URL | null = null) {
    this.#path = path;
    this.#whereModule = whereModule;
  }

  read<Name extends keyof ReadOperations>(operation: Name, params: ReadParams<Name>): Promise<ReadResult<Name>> {
    if (this.#stopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    if (this.#pending.size >= PENDING_MAX) return Promise.reject(new StoreUnavailable("too many reads are waiting"));
    this.#worker ??= this.#spawn();
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve: resolve as (value: never) => void, reject });
      this.#worker?.postMessage({ call, operation, params });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#failAll("the store has stopped");
    await worker?.terminate();
  }

  #spawn(): Worker {
    const worker = new Worker(new URL("./read-thread.ts", import.meta.url), {
      workerData: { path: this.#path, whereModule: this.#whereModule?.href ?? null },
    });
    // Pending reads alone must not keep the process alive.
    worker.unref();
    worker.on("message", (response: ReadResponse) => this.#settle(response));
    worker.on("error", (error) => this.#lose(worker, error.message));
    worker.on("exit", () => this.#lose(worker, "the read thread ended"));
    return worker;
  }

  #settle(response: ReadResponse): void {
    const pending = this.#pending.get(response.call);
    this.#pending.delete(response.call);
    if ("result" in response) pending?.resolve(response.result as never);
    else pending?.reject(translate(Object.assign(new Error(), response.error)));
  }

  #lose(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#failAll(reason);
  }

  #failAll(reason: string): void {
    for (const pending of this.#pending.values()) pending.reject(new StoreUnavailable(reason));
    this.#pending.clear();
  }
}
