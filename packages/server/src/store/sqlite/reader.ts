/**
 * The main thread's side of the read thread: one promise per call. The stores of a process share one thread, which starts with the first
 * read. If it dies, its calls fail and it is replaced.
 */

import { Worker } from "node:worker_threads";
import { StoreUnavailable } from "../contract/index.ts";
import { translate } from "./failures.ts";
import type { ReadFile, ReadOperations, ReadParams, ReadRequest, ReadResponse, ReadResult } from "./read-operations.ts";

interface Pending {
  resolve(value: never): void;
  reject(error: unknown): void;
}

/** Maximum number of waiting reads of a store; further ones are refused at once. */
const PENDING_MAX = 1_000;

let stores = 0;

export class Reader {
  readonly #file: ReadFile;
  readonly #pending = new Map<number, Pending>();
  /** Null unless it has connections to the file. */
  #thread: ReadThread | null = null;
  #calls = 0;
  #stopped = false;

  /** `whereModule` exports `compileWhere`. */
  constructor(path: string, whereModule: URL | null = null) {
    this.#file = { store: ++stores, path, whereModule: whereModule?.href ?? null };
  }

  read<Name extends keyof ReadOperations>(operation: Name, params: ReadParams<Name>): Promise<ReadResult<Name>> {
    if (this.#stopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    if (this.#pending.size >= PENDING_MAX) return Promise.reject(new StoreUnavailable("too many reads are waiting"));
    this.#thread ??= ReadThread.join(this);
    return this.#call(this.#thread, operation, params);
  }

  /** Fails the reads under way, and resolves when no connection to the file is open. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const thread = this.#thread;
    const isReading = this.#pending.size > 0;
    this.lose("the store has stopped");
    if (!thread) return;
    // A read may take long. Other stores wait for it, too; without any, nobody does.
    if (isReading && thread.isAlone) await thread.terminate();
    else await thread.leave(this, () => this.#call(thread, "close", undefined));
  }

  get store(): number {
    return this.#file.store;
  }

  settle(response: ReadResponse): void {
    const pending = this.#pending.get(response.call);
    this.#pending.delete(response.call);
    if ("result" in response) pending?.resolve(response.result as never);
    else pending?.reject(translate(Object.assign(new Error(), response.error)));
  }

  lose(reason: string): void {
    this.#thread = null;
    for (const pending of this.#pending.values()) pending.reject(new StoreUnavailable(reason));
    this.#pending.clear();
  }

  #call<Name extends keyof ReadOperations>(thread: ReadThread, operation: Name, params: ReadParams<Name>): Promise<ReadResult<Name>> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve: resolve as (value: never) => void, reject });
      thread.post({ file: this.#file, call, operation, params: params as never });
    });
  }
}

class ReadThread {
  /** Of this process. It stays when its last store has stopped: the next one needs no new thread. */
  static #current: ReadThread | null = null;

  readonly #worker = new Worker(new URL("./read-thread.ts", import.meta.url));
  readonly #readers = new Map<number, Reader>();
  /** Requests without a response, and the end of the thread once it is asked for: the process stays alive for them. */
  #open = 0;

  static join(reader: Reader): ReadThread {
    ReadThread.#current ??= new ReadThread();
    ReadThread.#current.#readers.set(reader.store, reader);
    return ReadThread.#current;
  }

  constructor() {
    this.#worker.on("message", (response: ReadResponse) => {
      if (--this.#open === 0) this.#worker.unref();
      this.#readers.get(response.store)?.settle(response);
    });
    this.#worker.on("error", (error) => this.#lose(error.message));
    this.#worker.on("exit", () => this.#lose("the read thread ended"));
    // Last, because listening for messages keeps the process alive, too.
    this.#worker.unref();
  }

  /** Whether it reads for one store only. */
  get isAlone(): boolean {
    return this.#readers.size === 1;
  }

  post(request: ReadRequest): void {
    if (this.#open++ === 0) this.#worker.ref();
    this.#worker.postMessage(request);
  }

  async terminate(): Promise<void> {
    this.#lose("the read thread ended");
    // A response may still arrive.
    this.#open++;
    await this.#worker.terminate();
  }

  async leave(reader: Reader, close: () => Promise<void>): Promise<void> {
    // A thread that has died has no connections.
    await close().catch(() => {});
    this.#readers.delete(reader.store);
  }

  #lose(reason: string): void {
    if (ReadThread.#current === this) ReadThread.#current = null;
    for (const reader of this.#readers.values()) reader.lose(reason);
    this.#readers.clear();
  }
}
