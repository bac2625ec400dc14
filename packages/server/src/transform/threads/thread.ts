/** The thread that runs transforms: processes one request after the other, and stores the current one in shared memory. */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { compileQuickJs } from "../sandbox/quickjs.ts";
import { Sandbox, type SandboxRun } from "../sandbox/sandbox.ts";
import type { CheckOutcome, EntryName, SandboxLimits, TransformOutcome } from "../transform-outcome.ts";

export interface ThreadData {
  limits: SandboxLimits;
  /** One number: the id of the current job, 0 for none. The watchdog reads it while this thread is blocked. */
  current: Int32Array;
  /** The lines of the current run. */
  logMemory: SharedArrayBuffer;
  /** The compiled engine, if another thread has already compiled it. */
  module: WebAssembly.Module | null;
  /** Added to the thread's nice value, so that it yields to the others. */
  niceness: number;
}

export type ThreadMessage = ThreadResponse | { module: WebAssembly.Module };
export type ThreadJob = { id: number } & ({ run: SandboxRun } | { check: string; entry: EntryName });
export type ThreadResponse = { id: number; cpuMs: number } & ({ outcome: TransformOutcome } | { checked: CheckOutcome });

const { limits, current, logMemory, module: compiled, niceness } = workerData as ThreadData;
// On Linux the call affects only the calling thread; elsewhere it would slow the whole process.
if (niceness > 0 && process.platform === "linux") setPriority(niceness);
const module = compiled ?? compileQuickJs();
if (!compiled) post({ module });
const sandbox = new Sandbox({ limits, logMemory, module });

parentPort?.on("message", (job: ThreadJob) => post(work(job)));

function work(job: ThreadJob): ThreadResponse {
  Atomics.store(current, 0, job.id);
  const ended = "run" in job ? { outcome: sandbox.run(job.run) } : { checked: sandbox.check(job.check, job.entry) };
  Atomics.store(current, 0, 0);
  return { id: job.id, cpuMs: sandbox.cpuMs, ...ended };
}

function post(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
