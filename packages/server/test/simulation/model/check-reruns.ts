/**
 * A rerun repeats a run: the same function with the same events. From a step on, it begins with the results that were there before that step
 * began, whose bodies do not run again, and with no others.
 */

import type { RunDetails } from "../../../src/store/contract/index.ts";
import { keptSteps } from "./check-runs.ts";
import { type Evidence, hashOf } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkReruns(evidence: Evidence, fault: Fault): void {
  const { journal, runs } = evidence.played;
  const reruns = runs.filter(({ originalRunId, jobId }) => originalRunId !== null && jobId === null);
  for (const { sourceId, newId } of journal.reruns)
    if (newId !== null && !evidence.runWithId(newId) && !evidence.isErasedRun(newId))
      fault(`run ${sourceId} was rerun as ${newId}, which is no run`);
  if (reruns.length > journal.reruns.length) fault(`${journal.reruns.length} reruns were asked for, and there are ${reruns.length}`);
  for (const run of reruns) checkRerun(evidence, run, (message) => fault(`${evidence.describe(run)}: ${message}`));
}

function checkRerun(evidence: Evidence, run: RunDetails, fault: Fault): void {
  const note = evidence.rerunOf(run);
  const source = note && evidence.runWithId(note.sourceId);
  if (!source) return fault("nobody asked for this rerun");
  if (source.functionNo !== run.functionNo || source.eventSequence !== run.eventSequence) fault(`it repeats another run than ${source.id}`);
  if (String(source.eventSequences) !== String(run.eventSequences)) fault(`it repeats run ${source.id} with other events`);
  const first = source.steps.find(({ id }) => id === note.from);
  const given = new Map(run.steps.filter((step) => evidence.isGiven(run, step)).map((step) => [step.id as string, step]));
  // Of several requests that were lost, it may be any.
  if (note.newId !== run.id) return;
  for (const step of source.steps) {
    const copy = given.get(step.id);
    if (copy && (!first || (step.endedAt ?? 0) > first.startedAt)) fault(`it began with the result of ${step.name}, which came later`);
    if (copy && (copy.value !== step.value || copy.status !== step.status)) fault(`it began with another result of ${step.name}`);
    if (!copy && first && step.endedAt !== null && step.endedAt < first.startedAt) fault(`it began without the result of ${step.name}`);
  }
  for (const { name } of keptSteps(run))
    if (given.has(hashOf(name)) && evidence.played.journal.bodies.has(`${run.id}/${name}`)) fault(`the body of ${name} ran again`);
}
