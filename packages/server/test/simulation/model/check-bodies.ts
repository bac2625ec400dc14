/**
 * How often each body ran, and which attempts it saw. A body runs once for each attempt, and once more for each fault that met it between
 * the moment its call was entitled to run it and the moment the service had its outcome. Only what the network did costs an attempt: that of
 * the function, if the call was the function's. A step then begins with its own first attempt, and an attempt can be seen again.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import type { BodyNote, CallNote } from "../journal-notes.ts";
import { codeNodes, type RunCode } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

export function checkBodies(evidence: Evidence, fault: (message: string) => void): void {
  for (const [key, bodies] of evidence.played.journal.bodies) {
    const [runId, step] = [key.slice(0, key.indexOf("/")), key.slice(key.indexOf("/") + 1)];
    const run = evidence.runWithId(runId);
    if (evidence.isErasedRun(runId) || evidence.isElsewhere(runId)) continue;
    if (!run) fault(`the body of ${step} ran for ${runId}, which is no run`);
    else checkStepBodies(evidence, run, step, bodies, (message) => fault(`${evidence.describe(run)}: ${message}`));
  }
}

function checkStepBodies(
  evidence: Evidence,
  run: RunDetails,
  step: string,
  bodies: readonly BodyNote[],
  fault: (message: string) => void,
): void {
  const { scenario, journal } = evidence.played;
  // In real time, writing the end of a call takes some, and a node on a busy machine loses leases, with the results of their calls. Both
  // are recorded: a body whose call was answered runs again only if its lease was lost, or its process died before it wrote the response.
  const endedAt = ({ call }: BodyNote) => (scenario.isRealTime ? (journal.writtenAt.get(call.dispatchId) ?? null) : call.endedAt);
  const isHit = (body: BodyNote) =>
    wasHit(body, endedAt(body)) || (scenario.isRealTime === true && journal.lostLeases.has(body.call.dispatchId));
  const hits = bodies.filter(isHit);
  const good = bodies.filter(({ failed }) => !failed);
  const goodHits = hits.filter(({ failed }) => !failed);
  const shown = () =>
    bodies
      .map(
        ({ attempt, failed, call, startedAt }) =>
          `#${call.no} ${startedAt % 86_400_000} a${attempt} ${failed ? "failed" : "ok"} (${call.fate})`,
      )
      .join("; ");
  if (good.length > 1 + goodHits.length)
    fault(`the body of ${step} ran ${good.length} times to its end, ${goodHits.length} of them disturbed: ${shown()}`);
  const networkFaults = evidence.callsOf(run).filter(isLost).length;
  for (const [attempt, all] of Map.groupBy(bodies, (body) => body.attempt)) {
    const disturbed = all.filter(isHit).length;
    if (all.length > 1 + disturbed + networkFaults)
      fault(`the body of ${step} ran ${all.length} times as attempt ${attempt}, ${disturbed} of them disturbed: ${shown()}`);
    if (attempt > evidence.retriesOf(run)) fault(`the body of ${step} saw attempt ${attempt} with ${evidence.retriesOf(run)} retries`);
  }
  if (networkFaults === 0) checkAttempts(evidence, run, step, bodies, fault);
}

/**
 * A step that failed for good used up its retries: for each of them its body failed, or a call that was for this step alone was lost. The
 * calls of the function that were lost are none of them. Published SDKs count otherwise: the last attempt of a call is the step's last.
 */
export function checkRetriesUsed(
  evidence: Evidence,
  run: RunDetails,
  step: { id: string; name: string },
  fault: (message: string) => void,
): void {
  if (evidence.functionOf(run)?.sdk !== "own") return;
  const bodies = evidence.played.journal.bodies.get(`${run.id}/${step.name}`) ?? [];
  const failed = bodies.filter((body) => body.failed && !isLost(body.call)).length;
  const lost = evidence.callsOf(run).filter((call) => call.stepId === step.id && isLost(call)).length;
  const retries = evidence.retriesOf(run);
  if (failed + lost <= retries) fault(`a step failed for good after ${failed} failures and ${lost} lost calls, with ${retries} retries`);
}

function isLost({ fate }: CallNote): boolean {
  return fate === "lost" || fate === "cut" || fate === "hung";
}

/** Without the network's doing, attempts are those the body itself used up. */
function checkAttempts(
  evidence: Evidence,
  run: RunDetails,
  step: string,
  bodies: readonly BodyNote[],
  fault: (message: string) => void,
): void {
  const codes = codeNodes(evidence.codeOf(run)).filter(
    (code): code is RunCode => code.kind === "run" && (step === code.id || step.startsWith(`${code.id}:`)),
  );
  const fails = Math.max(...codes.map((code) => (code.error === "final" ? Math.min(code.fails, 1) : code.fails)));
  const seen = [...new Set(bodies.map(({ attempt }) => attempt))].sort((a, b) => a - b);
  if (seen.some((attempt, index) => attempt !== index))
    fault(`the body of ${step} saw attempts ${seen.join(", ")}, though no call of the run was lost`);
  const most = Math.min(fails, evidence.retriesOf(run));
  if (seen.length > most + 1) fault(`the body of ${step} saw attempts ${seen.join(", ")}, though it needs ${most + 1}`);
}

/**
 * Something happened to its call before the service had its outcome, and while the call was still entitled to run it: until the end of the
 * call was written, at `writtenAt`, the step before may be taken.
 */
function wasHit({ call, permittedAt, keptAt }: BodyNote, writtenAt: number | null): boolean {
  if (call.wasDoubled) return true;
  if (call.fate === "answered" || call.fate === "under-way") return keptAt === null;
  const at = call.endedAt ?? Number.POSITIVE_INFINITY;
  return (writtenAt ?? Number.POSITIVE_INFINITY) >= permittedAt && (keptAt === null || at <= keptAt);
}
