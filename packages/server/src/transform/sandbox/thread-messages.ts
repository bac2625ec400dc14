/**
 * Jobs and answers on their way between threads: one flat list for many of them. As objects each would be cloned with the names of all
 * its fields, and those take longer than what is in them.
 */

import type { ThreadAnswer, ThreadJob } from "./thread.ts";

/** Seven for each job: its id, the key of its version, source, evt, headers, query, raw. Without a version it is a check. */
export type JobList = (number | string | null)[];
const JOB_FIELDS = 7;

/** Four for each event that was made without a word: the job's id, its CPU time, the event and the time inside; places apart. */
export interface AnswerList {
  events: (number | string)[];
  places: (readonly number[] | null)[];
  /** Everything else that can be answered. */
  others: ThreadAnswer[];
}
const EVENT_FIELDS = 4;

export function packJobs(jobs: readonly ThreadJob[]): JobList {
  const list: JobList = [];
  for (const job of jobs) {
    if ("run" in job) {
      const { versionKey, source, evtJson, headersJson, queryParamsJson, raw } = job.run;
      list.push(job.id, versionKey, source, evtJson, headersJson, queryParamsJson, raw);
    } else list.push(job.id, null, job.check, null, "", "", "");
  }
  return list;
}

export function unpackJobs(list: JobList): ThreadJob[] {
  const jobs: ThreadJob[] = [];
  for (let at = 0; at < list.length; at += JOB_FIELDS) {
    const [id, versionKey, source] = [list[at] as number, list[at + 1] as string | null, list[at + 2] as string];
    const evtJson = list[at + 3] as string | null;
    const [headersJson, queryParamsJson, raw] = [list[at + 4] as string, list[at + 5] as string, list[at + 6] as string];
    if (versionKey === null) jobs.push({ id, check: source });
    else jobs.push({ id, run: { versionKey, source, evtJson, headersJson, queryParamsJson, raw } });
  }
  return jobs;
}

export function emptyAnswers(): AnswerList {
  return { events: [], places: [], others: [] };
}

export function addAnswer(list: AnswerList, answer: ThreadAnswer): void {
  const outcome = "outcome" in answer ? answer.outcome : null;
  if (!outcome?.ok || outcome.logs.length > 0) list.others.push(answer);
  else {
    list.events.push(answer.id, answer.cpuMs, outcome.eventJson, outcome.durationMs);
    list.places.push(outcome.places);
  }
}

export function forEachAnswer({ events, places, others }: AnswerList, take: (answer: ThreadAnswer) => void): void {
  for (let at = 0, n = 0; at < events.length; at += EVENT_FIELDS, n++) {
    const [id, cpuMs, eventJson] = [events[at] as number, events[at + 1] as number, events[at + 2] as string];
    const durationMs = events[at + 3] as number;
    take({ id, cpuMs, outcome: { ok: true, eventJson, places: places[n] ?? null, logs: [], durationMs } });
  }
  for (const answer of others) take(answer);
}
