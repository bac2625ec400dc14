/**
 * Finds runs that changed during a disconnect. The stream of runs has no history, so after a disconnect the
 * lists are read for new runs and for unfinished runs whose status has changed.
 */

import { CommandFault } from "../command-line/command-fault.ts";
import type { RestClient } from "../rest/rest-client.ts";
import { ENDED, type RunFields } from "./run-text.ts";

const OPEN_STATUSES = ["queued", "running", "sleeping", "waiting"];
/** The limit of remembered runs per status, and of new runs reported after a disconnect. */
const OPEN_RUNS_MAX = 1_000;
const NEW_RUNS_MAX = 1_000;
/** Runs may arrive late by this much, so the search starts this long before the last one seen. */
const ON_THEIR_WAY_MS = 60_000;

export class MissedRuns {
  readonly #rest: RestClient;
  readonly #functionId: string | null;
  /** Status by run, for unfinished runs and recently ended ones. */
  readonly #known = new Map<string, { status: string; createdAt: number }>();
  #newest = 0;
  #isBegun = false;

  constructor(rest: RestClient, functionId: string | null) {
    this.#rest = rest;
    this.#functionId = functionId;
  }

  /** Records the current state of a run. Returns false if it was already known. */
  note({ id, status, createdAt }: RunFields): boolean {
    const created = Date.parse(createdAt);
    this.#newest = Math.max(this.#newest, created);
    const isNews = this.#known.get(id)?.status !== status;
    this.#known.set(id, { status, createdAt: created });
    return isNews;
  }

  /** Whether the end of this run was reported. Nothing that the stream says of it later is news: a run that has ended does not change. */
  hasEnded(id: string): boolean {
    const known = this.#known.get(id);
    return known !== undefined && ENDED.has(known.status);
  }

  /** Runs to report, oldest first. Empty the first time, because there is nothing to compare with. */
  async sinceLastTime(): Promise<RunFields[]> {
    const open = (await Promise.all(OPEN_STATUSES.map((status) => this.#list({ status }, OPEN_RUNS_MAX)))).flat();
    if (!this.#isBegun) {
      for (const run of open) this.note(run);
      this.#newest = Math.max(this.#newest, await this.#serviceTime());
      this.#isBegun = true;
      return [];
    }
    const from = this.#newest - ON_THEIR_WAY_MS;
    const recent = await this.#list({ from }, NEW_RUNS_MAX);
    const found = new Map([...open, ...recent].map((run) => [run.id, run]));
    const gone = [...this.#known].filter(([id, { status }]) => !ENDED.has(status) && !found.has(id));
    const ended: (RunFields | null)[] = [];
    for (const [id] of gone) ended.push(await this.#read(id));
    this.#forgetBefore(from);
    const runs = [...found.values(), ...ended.filter((run) => run !== null)].sort((a, b) => (a.id < b.id ? -1 : 1));
    return runs.filter((run) => this.note(run));
  }

  async #list(query: Record<string, string | number>, limit: number): Promise<RunFields[]> {
    return (await this.#rest.list<RunFields>({ path: "/runs", query: { ...query, function: this.#functionId } }, limit)).items;
  }

  /** Null if it was removed: it is forgotten. */
  async #read(id: string): Promise<RunFields | null> {
    try {
      return await this.#rest.data<RunFields>({ path: `/runs/${encodeURIComponent(id)}` });
    } catch (error) {
      if (!(error instanceof CommandFault) || error.code !== "run_not_found") throw error;
      this.#known.delete(id);
      return null;
    }
  }

  /** By the service's clock, in seconds. */
  async #serviceTime(): Promise<number> {
    const { headers } = await this.#rest.call({ path: "/runs", query: { limit: 1 } });
    return Date.parse(headers.get("date") ?? new Date().toUTCString());
  }

  #forgetBefore(from: number): void {
    for (const [id, { status, createdAt }] of this.#known) if (ENDED.has(status) && createdAt < from) this.#known.delete(id);
  }
}
