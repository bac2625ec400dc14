/** The jobs of one process: those about runs and events, worked on as the service does. */

import { createEventIdGenerator, type JobId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { JobsPart } from "../../src/api/jobs/jobs-routes.ts";
import { gatheringWithout } from "../../src/fan-out/starts/decide-start.ts";
import { JobRunner } from "../../src/jobs/job-runner.ts";
import { createJobs } from "../../src/jobs/jobs.ts";
import { cancelRuns } from "../../src/jobs/kinds/cancel-runs.ts";
import { eraseEvents } from "../../src/jobs/kinds/erase-events.ts";
import { replayEvents } from "../../src/jobs/kinds/replay-events.ts";
import { rerunRuns } from "../../src/jobs/kinds/rerun-runs.ts";
import type { Directory } from "../../src/receive/senders/directory.ts";
import type { Functions } from "../../src/service/functions.ts";
import type { Store } from "../../src/store/contract/index.ts";
import { now } from "./virtual-time.ts";

const RATE = 100;

export interface SimJobs {
  jobs: JobsPart;
  runner: JobRunner;
}

export function createSimJobs(store: Store, functions: Functions, directory: Directory, log: Logger, leaseMs: number): SimJobs {
  const { runs, jobStarts } = functions;
  const kinds = [
    replayEvents({ store, sourceName: () => "", ...jobStarts }),
    rerunRuns({ store, runs, ...jobStarts }),
    eraseEvents({
      store,
      sourceName: () => "",
      cancel: functions.cancelRun,
      gatheringWithout,
      archive: null,
      environment: () => undefined,
    }),
    cancelRuns({ store, runs, cancel: runs.cancel }),
  ];
  const runner = new JobRunner({ store, kinds, environment: (id) => directory.environment(id), leaseMs, log, now });
  const ids = createEventIdGenerator();
  const newId = () => ids.next(now()) as string as JobId;
  return { runner, jobs: createJobs({ store, kinds, runner, rate: RATE, newId, now }) };
}
