/** One seed: a scenario is played, and everything about it is checked. */

import { createFolders, type SimStores } from "./folders.ts";
import { checkAlerts } from "./model/check-alerts.ts";
import { checkApprovals } from "./model/check-approvals.ts";
import { checkBodies } from "./model/check-bodies.ts";
import { checkCancellations } from "./model/check-cancellations.ts";
import { checkCancels } from "./model/check-cancels.ts";
import { checkDrills } from "./model/check-drills.ts";
import { checkErasures } from "./model/check-erasures.ts";
import { checkInvocations } from "./model/check-invocations.ts";
import { checkJobs } from "./model/check-jobs.ts";
import { checkMirrors } from "./model/check-mirrors.ts";
import { checkOrder } from "./model/check-order.ts";
import { checkPauses } from "./model/check-pauses.ts";
import { checkQuotas } from "./model/check-quotas.ts";
import { checkRemovals } from "./model/check-removals.ts";
import { checkReplays } from "./model/check-replays.ts";
import { checkReruns } from "./model/check-reruns.ts";
import { checkRuns } from "./model/check-runs.ts";
import { checkSchedules } from "./model/check-schedules.ts";
import { checkSchemas } from "./model/check-schemas.ts";
import { checkSignals } from "./model/check-signals.ts";
import { checkStarts } from "./model/check-starts.ts";
import { checkStreams } from "./model/check-streams.ts";
import { checkThrottles } from "./model/check-throttles.ts";
import { Evidence } from "./model/evidence.ts";
import { pauseReally, pauseVirtually } from "./pauses-of-node.ts";
import { readInline, readOnThreads } from "./read-inline.ts";
import type { Scenario, SimFunction } from "./scenario.ts";
import type { Trace } from "./trace.ts";
import { beginVirtualTime, endVirtualTime } from "./virtual-time.ts";
import { type Played, World } from "./world.ts";

export interface Outcome {
  faults: string[];
  runs: number;
  calls: number;
  played: Played;
}

export async function simulate(scenario: Scenario): Promise<Outcome> {
  beginVirtualTime(scenario.seed);
  readInline();
  pauseVirtually();
  const stores = createFolders({ isErasing: (scenario.erasures ?? []).length > 0 });
  try {
    const played = await new World(scenario, stores).play();
    return { faults: await check(played), runs: played.runs.length, calls: played.journal.calls.length, played };
  } finally {
    endVirtualTime();
    readOnThreads();
    pauseReally();
    await stores.remove();
  }
}

/** The same in real time, over a store that the caller provides. */
export async function simulateInRealTime(scenario: Scenario, stores: SimStores, trace: Trace | null = null): Promise<Outcome> {
  try {
    const played = await new World(scenario, stores, trace).play();
    return { faults: await check(played), runs: played.runs.length, calls: played.journal.calls.length, played };
  } finally {
    await stores.remove();
  }
}

async function check(played: Played): Promise<string[]> {
  const faults = [...played.journal.faults];
  const fault = (message: string) => void faults.push(message);
  const isMirrored = ({ sdk }: SimFunction) => sdk === "mirror";
  const { scenario, branch } = played;
  const evidence = new Evidence({ ...played, scenario: { ...scenario, functions: scenario.functions.filter((fn) => !isMirrored(fn)) } });
  await checkEnvironment(evidence, fault);
  checkOperations(evidence, fault);
  checkQuotas(played, fault);
  checkStreams(played, fault);
  if (!branch) return faults;
  const there = { ...scenario, functions: scenario.functions.filter(isMirrored), events: [] };
  const copies = new Evidence({ ...played, ...branch, branch: played, scenario: there, jobs: [] });
  await checkEnvironment(copies, fault);
  checkMirrors(evidence, copies, fault);
  checkDrills(copies, fault);
  return faults;
}

async function checkEnvironment(evidence: Evidence, fault: (message: string) => void): Promise<void> {
  await checkRuns(evidence, fault);
  checkBodies(evidence, fault);
  checkStarts(evidence, fault);
}

function checkOperations(evidence: Evidence, fault: (message: string) => void): void {
  checkThrottles(evidence, fault);
  checkCancels(evidence, fault);
  checkCancellations(evidence, fault);
  checkInvocations(evidence, fault);
  checkOrder(evidence, fault);
  checkPauses(evidence, fault);
  checkReruns(evidence, fault);
  checkJobs(evidence, fault);
  checkReplays(evidence, fault);
  checkSchemas(evidence, fault);
  checkSchedules(evidence, fault);
  checkRemovals(evidence, fault);
  checkErasures(evidence, fault);
  checkSignals(evidence, fault);
  checkApprovals(evidence, fault);
  checkAlerts(evidence, fault);
}
