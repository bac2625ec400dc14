/**
 * A drill sends each of its requests once, and says what became of it: with an id, a sample is known already and makes no event; without, each
 * copy makes one, which is as expected for the first only. Forged and malformed requests are refused. Of functions it says how their runs ended.
 */

import type { DrillEntry, DrillKind, EventId } from "@inlet/protocol";
import type { Job } from "../../../src/store/contract/index.ts";
import { DRILLED_EVENT } from "../deeds/drills.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;
type Entry = DrillEntry & { sampleKey: string; eventId: EventId | null };

const REFUSED: Readonly<Partial<Record<DrillKind, number>>> = { forged: 401, malformed: 400 };

/** `evidence`: of the branch. */
export function checkDrills(evidence: Evidence, fault: Fault): void {
  const { drills, journal } = evidence.played;
  if (drills.length > journal.drills.length) fault(`${journal.drills.length} drills were asked for, and there are ${drills.length}`);
  const reports = drills.map((job) => checkDrill(evidence, job, (message) => fault(`drill ${job.id}: ${message}`)));
  for (const { jobId } of journal.drills)
    if (jobId !== null && !drills.some(({ id }) => id === jobId)) fault(`drill ${jobId} is not stored`);
  for (const { n, hasId, timesMax } of journal.drilled) {
    const stored = evidence.played.events.filter((event) => event.name === DRILLED_EVENT && dataOf(event).n === n).length;
    const copies = reports.flat().filter((entry) => entry.happened.events > 0 && numberOf(evidence, entry) === n).length;
    if (stored < copies + 1 || stored > (hasId ? 1 : copies + timesMax)) fault(`request ${n} of drills is stored ${stored} times`);
  }
}

function checkDrill(evidence: Evidence, job: Job, fault: Fault): Entry[] {
  if (job.status !== "completed" || job.done !== job.total) fault(`it is ${job.status}, ${job.done} of ${job.total} requests were sent`);
  const entries = JSON.parse(job.report ?? "[]") as Entry[];
  const { drilled } = evidence.played.journal;
  const { kinds } = JSON.parse(job.filter) as { kinds: readonly DrillKind[] };
  const expected = requestsOf(kinds) * drilled.length;
  if (entries.length !== expected) fault(`it sent ${entries.length} requests, where ${expected} are to be sent`);
  const differences = entries.filter(({ ok }) => !ok).length;
  if (job.failed !== differences) fault(`it has ${job.failed} failures, and reports ${differences}`);
  for (const [index, entry] of entries.entries()) checkEntry(evidence, entries.slice(0, index), entry, fault);
  return entries;
}

/** Of each sample. Copies need a first one, and disorder comes between the two kinds of them. */
function requestsOf(kinds: readonly DrillKind[]): number {
  const has = (kind: DrillKind) => kinds.includes(kind);
  const isAdded = !has("samples") && (has("duplicates") || (has("retries") && !has("disorder")));
  return kinds.length + (isAdded ? 1 : 0);
}

function checkEntry(evidence: Evidence, before: readonly Entry[], entry: Entry, fault: Fault): void {
  const { kind, happened, ok, sampleKey } = entry;
  const told = (message: string) => fault(`${kind} of ${entry.sent.sample}: ${message}`);
  const refusal = REFUSED[kind];
  const hasIds = evidence.played.journal.drilled.every(({ hasId }) => hasId);
  const isCopy = before.some((one) => one.sampleKey === sampleKey && REFUSED[one.kind] === undefined);
  const events = refusal === undefined && !hasIds ? 1 : 0;
  if (happened.status !== (refusal ?? 200) || happened.events !== events) told(`${happened.status} and ${happened.events} events`);
  if (ok !== (refusal !== undefined || hasIds || !isCopy)) told(`it is ${ok ? "" : "not "}as expected`);
  if (refusal === undefined) checkFunctions(evidence, [...before, entry], entry, told);
}

/** Those that ran for the sample up to this request. */
function checkFunctions(evidence: Evidence, entries: readonly Entry[], { sampleKey, functions }: Entry, fault: Fault): void {
  const ids = new Set(entries.filter((one) => one.sampleKey === sampleKey).map(({ eventId }) => eventId as string));
  const runs = evidence.played.runs.filter(({ event, originalRunId }) => event && ids.has(event.id) && originalRunId === null);
  const failed = runs.some(({ status }) => status === "failed");
  const expected = JSON.stringify([{ id: evidence.functionId(runs[0] as (typeof runs)[number]), runs: runs.length, failed }]);
  if (JSON.stringify(functions) !== expected) fault(`its functions are ${JSON.stringify(functions)}, and were ${expected}`);
}

function numberOf(evidence: Evidence, { eventId }: Entry): number {
  return dataOf(evidence.eventWithId(eventId ?? "")).n;
}
