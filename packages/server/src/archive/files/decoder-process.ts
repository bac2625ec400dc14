/**
 * The node's side of the process that parses archived files. A damaged file can make the parser loop for ever or use up all memory. V8 ends a
 * whole process whose heap is full, even if a thread with a limit of its own filled it, so the parser has a process of its own: when that
 * process ends, the file is unreadable, and the next task gets a new one. It is started when something is read, and ended when nothing is.
 */

import { type ChildProcess, fork } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { type ArchivedFile, ArchiveUnavailable, FileUnreadable } from "../targets/archive-target.ts";
import type { DecoderMessage, DecoderRequest, DecoderResult, DecoderTask } from "./decoder.ts";

export interface DecoderLimits {
  /** CPU time of one task. */
  cpuMs: number;
  /** Of the process. */
  memoryBytes: number;
  heapMb: number;
}

/** Far more than the largest group takes: one row with the largest payload that can be configured. */
const LIMITS: DecoderLimits = { cpuMs: 5_000, memoryBytes: 1_536 * 1024 * 1024, heapMb: 1_024 };
const IDLE_MS = 10_000;
const TOO_MUCH = "it takes more time or memory than a file of the archive can take";

interface Working {
  file: ArchivedFile;
  /** Why its bytes could not be read. */
  fault: unknown;
  settle(result: DecoderResult): void;
}

export class DecoderProcess {
  readonly #limits: DecoderLimits;
  #child: ChildProcess | null = null;
  #working: Working | null = null;
  /** The last task that was given: tasks are done in turn, so it is known which file a process was lost with. */
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(limits: Partial<DecoderLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Throws ArchiveUnavailable, which names the file, if it cannot be read. */
  decode(file: ArchivedFile, task: Omit<DecoderTask, "byteLength">): Promise<Exclude<DecoderResult, { failure: string }>> {
    const result = this.#last.then(() => this.#run(file, { ...task, byteLength: file.byteLength }));
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Ends the process, and with it the task under way. Nothing can be read after that. */
  stop(): void {
    this.#isStopped = true;
    this.#child?.kill("SIGKILL");
  }

  async #run(file: ArchivedFile, task: DecoderTask) {
    if (this.#isStopped) throw new ArchiveUnavailable("the service stops");
    const working: Working = { file, fault: null, settle: () => undefined };
    const settled = new Promise<DecoderResult>((resolve) => {
      working.settle = resolve;
    });
    this.#working = working;
    const child = this.#take();
    post(child, { task });
    const result = await settled;
    this.#working = null;
    if (child === this.#child) this.#rest(child);
    if (working.fault) throw working.fault;
    if ("failure" in result) throw new FileUnreadable(file.name, result.failure);
    return result;
  }

  /** The process keeps the node alive while it works, and only then. */
  #take(): ChildProcess {
    if (this.#idle) clearTimeout(this.#idle);
    const child = this.#child ?? this.#start();
    child.ref();
    child.channel?.ref();
    return child;
  }

  #rest(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => {
      this.#child = null;
      child.disconnect();
    }, IDLE_MS).unref();
  }

  #start(): ChildProcess {
    const { cpuMs, memoryBytes, heapMb } = this.#limits;
    const child = fork(new URL("./decoder.ts", import.meta.url), [String(cpuMs), String(memoryBytes)], {
      env: decoderEnvironment(),
      execArgv: [`--max-old-space-size=${heapMb}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", (message) => this.#receive(child, message as DecoderMessage));
    child.on("error", (error) => this.#lose(child, `its reader cannot be started: ${error.message}`));
    child.on("exit", (code, signal) => this.#lose(child, this.#isStopped ? "the service stops" : lossOf(code, signal)));
    this.#child = child;
    return child;
  }

  #receive(child: ChildProcess, message: DecoderMessage): void {
    if (!("slice" in message)) this.#working?.settle(message);
    else if (this.#working) void this.#serve(child, this.#working, message);
  }

  async #serve(child: ChildProcess, working: Working, { slice, start, end }: { slice: number; start: number; end: number }): Promise<void> {
    const bytes = await working.file.slice(start, end).catch((error: unknown) => {
      working.fault ??= error;
      return null;
    });
    post(child, { slice, bytes: bytes && new Uint8Array(bytes) });
  }

  #lose(child: ChildProcess, failure: string): void {
    if (child !== this.#child) return;
    this.#child = null;
    if (this.#idle) clearTimeout(this.#idle);
    this.#working?.settle({ failure });
  }
}

/** Its watch ends it by a signal, and so does V8 when the heap is full. */
function lossOf(code: number | null, signal: string | null): string {
  return signal === null ? `its reader ended with the exit code ${code}` : TOO_MUCH;
}

/** A process that has ended says so by its exit. */
function post(child: ChildProcess, request: DecoderRequest): void {
  if (child.connected) child.send(request, () => undefined);
}

/** None of the node's environment variables, which have its secrets, except for the compile cache. */
function decoderEnvironment(): Record<string, string> {
  const cache = getCompileCacheDir();
  return cache ? { NODE_COMPILE_CACHE: cache } : {};
}
