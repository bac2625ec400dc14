/** Imported into a process of tests: kills it after fifteen seconds, since the test runner handles the signals that would end a loop. */

import { isMainThread, Worker } from "node:worker_threads";

if (isMainThread) new Worker('setTimeout(() => process.kill(process.pid, "SIGKILL"), 15_000)', { eval: true }).unref();
