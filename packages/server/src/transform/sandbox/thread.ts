/** The thread transforms run in: takes one request after the other, and says in shared memory which one it is at. */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { CheckOutcome, SandboxLimits, TransformOutcome } from "../transform-outcome.ts";
import { compileQuickJs } from "./quickjs.ts";
import { Sandbox, type SandboxRun } from "./sandbox.ts";
import { type AnswerList, addAnswer, emptyAnswers, type JobList, unpackJobs } from "./thread-messages.ts";

export interface ThreadData {
  limits: SandboxLimits;
  /** One number: the id of the job being worked on, 0 for none. The watchdog reads it while this thread is deaf. */
  current: Int32Array;
  /** The lines of the run under way. */
  logMemory: SharedArrayBuffer;
  /** The engine, if another thread has compiled it already. */
  module: WebAssembly.Module | null;
  /** Added to the thread's nice value, so that it gives way to the others. */
  niceness: number;
}

export type ThreadMessage = AnswerList | { module: WebAssembly.Module };
export type ThreadJob = { id: number } & ({ run: SandboxRun } | { check: string });
export type ThreadAnswer = { id: number; cpuMs: number } & ({ outcome: TransformOutcome } | { checked: CheckOutcome });

const { limits, current, logMemory, module: compiled, niceness } = workerData as ThreadData;
// On Linux the call concerns the calling thread alone; elsewhere it would slow the whole process.
if (niceness > 0 && process.platform === "linux") setPriority(niceness);
const module = compiled ?? compileQuickJs(limits.memoryBytes);
if (!compiled) post({ module });
const sandbox = new Sandbox({ limits, logMemory, module });

/** Answers are sent together, since each message costs the main thread some 10 µs, but none waits longer than this for the next. */
const ANSWER_WAIT_MS = 2;

parentPort?.on("message", (list: JobList) => {
  let answers = emptyAnswers();
  let since = performance.now();
  for (const job of unpackJobs(list)) {
    addAnswer(answers, work(job));
    if (performance.now() - since < ANSWER_WAIT_MS) continue;
    post(answers);
    answers = emptyAnswers();
    since = performance.now();
  }
  if (answers.events.length > 0 || answers.others.length > 0) post(answers);
});

function work(job: ThreadJob): ThreadAnswer {
  Atomics.store(current, 0, job.id);
  const outcome = "run" in job ? sandbox.run(job.run) : null;
  const checked = "check" in job ? sandbox.check(job.check) : null;
  Atomics.store(current, 0, 0);
  const { id } = job;
  const { cpuMs } = sandbox;
  return outcome ? { id, cpuMs, outcome } : { id, cpuMs, checked: checked as CheckOutcome };
}

function post(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
