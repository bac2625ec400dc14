/** What people do while a scenario is played: they send events and signals, pause functions, archive the environment, rerun runs and start jobs. */

import type { RunId } from "@inlet/protocol";
import type { EdgeAnswer } from "./apps/own-app.ts";
import type { SimArchive, SimEvent, SimJob, SimPause, SimRerun, SimSignal } from "./deeds.ts";
import type { Journal } from "./journal.ts";
import type { SimNode } from "./node.ts";
import type { Operated } from "./process.ts";
import { fullId, type Scenario, signalName } from "./scenario.ts";
import { after, now, pass } from "./virtual-time.ts";

const RESEND_MS = 500;

export type Ask = (path: string, request: { headers: Record<string, string>; body: string }) => Promise<EdgeAnswer>;

export interface PeopleParts {
  scenario: Scenario;
  journal: Journal;
  startedAt: number;
  ask: Ask;
  nextNode(): SimNode;
}

export class People {
  readonly #parts: PeopleParts;
  /** What they have not done yet, signals apart: those may come too late. */
  left: number;

  constructor(parts: PeopleParts) {
    const { events, pauses = [], archives = [], reruns = [], jobs = [] } = parts.scenario;
    this.#parts = parts;
    this.left = events.length + pauses.length + archives.length + reruns.length + jobs.length;
  }

  begin(): void {
    const { events, signals = [], pauses = [], archives = [], reruns = [], jobs = [] } = this.#parts.scenario;
    for (const event of events) after(event.atMs, () => void this.#send(event));
    for (const signal of signals) after(signal.atMs, () => void this.#signal(signal));
    for (const pause of pauses) after(pause.atMs, () => void this.#pause(pause));
    for (const archive of archives) after(archive.atMs, () => void this.#archive(archive));
    for (const job of jobs) after(job.atMs, () => void this.#job(job));
    for (const rerun of reruns) after(rerun.atMs, () => void this.#rerun(rerun));
  }

  noteSignal(body: string, answer: string): void {
    const { signal, data } = JSON.parse(body) as { signal: string; data: { no: number } };
    const { run_id: runId } = (JSON.parse(answer) as { data: { run_id: string } }).data;
    this.#parts.journal.signals.push({ signal, runId, no: data.no });
  }

  /** Sends until it is known to be accepted, always under the same seed. */
  async #send({ name, key, n }: SimEvent): Promise<void> {
    const { ask, journal, startedAt, scenario } = this.#parts;
    const refusals = scenario.archives?.length ? [503, 404] : [503];
    const seed = `${startedAt + n},${Buffer.from(String(n).padStart(10, "0")).toString("base64")}`;
    const body = JSON.stringify({ name, data: { k: key, n } });
    const headers = { "content-type": "application/json", "x-inngest-event-id-seed": seed };
    for (;;) {
      const answer = await ask("/e/event-key", { headers, body }).catch(() => null);
      if (answer?.status === 200) break;
      if (answer && !refusals.includes(answer.status)) journal.fault(`event ${n} was refused: ${await answer.text()}`);
      await pass(RESEND_MS);
    }
    this.left--;
  }

  /** Once: whether it was taken is not known where the service goes away. */
  async #signal({ signal, key, n }: SimSignal): Promise<void> {
    const { ask, journal } = this.#parts;
    const body = JSON.stringify({ signal: signalName(signal, key), data: { n, no: journal.signalsSent++ } });
    const answer = await ask("/v1/signals", { headers: {}, body }).catch(() => null);
    if (answer && ![200, 404, 503].includes(answer.status)) journal.fault(`a signal was refused: ${await answer.text()}`);
  }

  /** Tries until it is known to be paused, and later to be resumed. */
  async #pause({ fn, forMs }: SimPause): Promise<void> {
    const { scenario, journal } = this.#parts;
    const functionId = fullId(scenario.functions.find(({ id }) => id === fn) ?? { sdk: "own", id: fn });
    const pause = (isPaused: boolean) =>
      this.#untilDone(async ({ functions: { registry }, environment }) => {
        const isKnown = await (isPaused ? registry.pause(environment, functionId) : registry.resume(environment, functionId, "keep"));
        if (!isKnown) throw new Error(`there is no function ${functionId}`);
      });
    await pause(true);
    const pausedAt = now();
    await pass(forMs);
    journal.pauses.push({ functionId, pausedAt, resumedAt: now() });
    await pause(false);
    this.left--;
  }

  /** As `#pause`, for all functions. Meanwhile, no events are accepted. */
  async #archive({ forMs }: SimArchive): Promise<void> {
    const archive = (archivedAt: number | null) =>
      this.#untilDone(async ({ store, directory, environment }) => {
        await store.environmentUpdate({ id: environment.id, archivedAt });
        await directory.refresh();
      });
    await archive(now());
    const pausedAt = now();
    await pass(forMs);
    this.#parts.journal.pauses.push({ functionId: null, pausedAt, resumedAt: now() });
    await archive(null);
    this.left--;
  }

  async #untilDone(work: (at: Operated) => Promise<void>): Promise<void> {
    for (;;) {
      const done = this.#parts.nextNode().operate(work);
      if (await done.then(() => true).catch(() => false)) return;
      await pass(RESEND_MS);
    }
  }

  /** Once, as `#rerun`. */
  async #job({ kind, fn: id }: SimJob): Promise<void> {
    const { journal, nextNode, scenario } = this.#parts;
    const fn = scenario.functions.find((candidate) => candidate.id === id);
    if (fn?.trigger) {
      const functionId = fullId(fn);
      const isReplay = kind === "events.replay";
      const request = isReplay ? { filter: { name: fn.trigger.event }, function: functionId } : { filter: { function: functionId } };
      const done = nextNode().operate(async ({ jobs, environment }) => {
        journal.jobsAsked++;
        journal.jobs.push((await jobs.create(environment, { kind, ...request })).id);
      });
      await done.catch(() => undefined);
    }
    this.left--;
  }

  /** Once, of a run that has ended: whether it was done is not known where the service goes away. */
  async #rerun({ pick, step }: SimRerun): Promise<void> {
    const { journal, nextNode } = this.#parts;
    const ended = [...journal.endedRuns];
    const id = ended[pick % ended.length] as RunId | undefined;
    if (id !== undefined) {
      const done = nextNode().operate(async ({ functions, store, environment }) => {
        const run = await store.runGet({ environmentId: environment.id, id });
        if (!run) throw new Error(`there is no run ${id}`);
        const from = step === null ? null : (run.steps[step % Math.max(run.steps.length, 1)]?.id ?? null);
        const note = journal.noteRerun(id, from);
        note.newId = await functions.runs.rerun(run, from ?? undefined);
        note.doneAt = now();
        if (note.newId === null) journal.fault(`run ${id} could not be rerun`);
      });
      await done.catch(() => undefined);
    }
    this.left--;
  }
}
