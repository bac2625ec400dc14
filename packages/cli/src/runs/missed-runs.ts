/**
 * What became of runs while nobody was connected. The stream of runs tells changes as they happen and does not go back, so after
 * a disconnect the lists are read instead: runs that are new since, and those that were under way before and stand otherwise now.
 */

import type { RestClient } from "../rest/rest-client.ts";
import { ENDED, type RunFields } from "./run-text.ts";

const OPEN_STATUSES = ["queued", "running", "sleeping", "waiting"];
/** How many runs of each status are kept in mind, and how many new ones are told after a disconnect. */
const OPEN_RUNS_MAX = 1_000;
const NEW_RUNS_MAX = 1_000;
/** Runs of this long before the last one seen may still have been on their way when the connection broke. */
const ON_THEIR_WAY_MS = 60_000;

export class MissedRuns {
  readonly #rest: RestClient;
  readonly #functionId: string | null;
  /** Status by run: of all that are under way, and of those that ended of late. */
  readonly #known = new Map<string, { status: string; createdAt: number }>();
  #newest = 0;
  #isBegun = false;

  constructor(rest: RestClient, functionId: string | null) {
    this.#rest = rest;
    this.#functionId = functionId;
  }

  /** A run as it stands now; false when that is known. */
  note({ id, status, createdAt }: RunFields): boolean {
    const created = Date.parse(createdAt);
    this.#newest = Math.max(this.#newest, created);
    const isNews = this.#known.get(id)?.status !== status;
    this.#known.set(id, { status, createdAt: created });
    return isNews;
  }

  /** Runs to tell about, oldest first. The first time there is nothing to compare with, and so nothing to tell. */
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
    const ended: RunFields[] = [];
    for (const [id] of gone) ended.push(await this.#rest.data<RunFields>({ path: `/runs/${encodeURIComponent(id)}` }));
    this.#forgetBefore(from);
    const runs = [...found.values(), ...ended].sort((a, b) => (a.id < b.id ? -1 : 1));
    return runs.filter((run) => this.note(run));
  }

  async #list(query: Record<string, string | number>, limit: number): Promise<RunFields[]> {
    return (await this.#rest.list<RunFields>({ path: "/runs", query: { ...query, function: this.#functionId } }, limit)).items;
  }

  /** By its own clock, to the second. */
  async #serviceTime(): Promise<number> {
    const { headers } = await this.#rest.call({ path: "/runs", query: { limit: 1 } });
    return Date.parse(headers.get("date") ?? new Date().toUTCString());
  }

  #forgetBefore(from: number): void {
    for (const [id, { status, createdAt }] of this.#known) if (ENDED.has(status) && createdAt < from) this.#known.delete(id);
  }
}
