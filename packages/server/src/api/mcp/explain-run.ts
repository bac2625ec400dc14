/** `explain_run`: a run with what it ran on, and what has changed since its function last succeeded. */

import { askOptional, brief } from "./ask.ts";
import type { Ask, Json } from "./tool.ts";

interface Run extends Json {
  id: string;
  status: string;
  environment: string;
  function: { id: string; name: string };
  event: { id: string; name: string } | null;
  createdAt: string;
  endedAt: string | null;
  steps: Json[];
  calls: Json[];
  attempts: Json[];
}

interface Page<Item> {
  data: Item[];
}

const EVENT_UNITS = 4_000;
const PART_UNITS = 800;
const CHANGES_MAX = 20;

export async function explainRun(ask: Ask, id: string): Promise<Json> {
  const { data: run } = await ask<{ data: Run }>(`/runs/${id}`);
  const { steps, calls, attempts, ...summary } = run;
  const event = await eventOf(ask, run);
  const registered = await askOptional(ask, `/functions/${encodeURIComponent(run.function.id)}`);
  return {
    id: run.id,
    run: brief(summary, PART_UNITS * 2),
    event: event && brief(event, EVENT_UNITS),
    steps: steps.map((step) => brief(step, PART_UNITS)),
    attempts: attempts.map((attempt) => brief(attempt, PART_UNITS)),
    calls: calls.map((one) => brief(one, PART_UNITS)),
    function: registered && brief(registered.data, PART_UNITS),
    sinceLastSuccess: await sinceLastSuccess(ask, run, event, registered?.data ?? null),
  };
}

/** Null for a scheduled run, and for an event that was removed. */
async function eventOf(ask: Ask, { event }: Pick<Run, "event">): Promise<Json | null> {
  return event === null ? null : ((await askOptional(ask, `/events/${event.id}`))?.data ?? null);
}

/** Null if the function has never succeeded before this run, as far as runs are kept. */
async function sinceLastSuccess(ask: Ask, run: Run, event: Json | null, registered: Json | null): Promise<Json | null> {
  const query = new URLSearchParams({ function: run.function.id, status: "completed", to: run.createdAt, limit: "1" });
  const last = (await askOptional<Page<Run>>(ask, `/runs?${query}`))?.data[0];
  if (!last) return null;
  const before = await eventOf(ask, last);
  const since = last.endedAt ?? last.createdAt;
  const updatedAt = typeof registered?.updatedAt === "string" ? registered.updatedAt : null;
  return {
    run: last.id,
    endedAt: last.endedAt,
    event: last.event,
    functionRegisteredAnew: updatedAt !== null && updatedAt > since ? updatedAt : null,
    payload: event && before ? payloadChanges(before.data, event.data) : null,
    changes: await changesBetween(ask, run.environment, since, run.endedAt ?? run.createdAt),
  };
}

/** What people and programs changed meanwhile. */
async function changesBetween(ask: Ask, environment: string, from: string, to: string): Promise<Json[] | null> {
  const page = await askOptional<Page<Json>>(ask, `/audit-log?${new URLSearchParams({ from, to, limit: "100" })}`);
  const isOther = ({ action }: Json) => action !== "tool.called" && action !== "key.proved";
  const concerns = (note: Json) => note.environment === environment || note.environment === null;
  const notes = page?.data.filter((note) => isOther(note) && concerns(note));
  return notes?.slice(0, CHANGES_MAX).map((note) => brief(note, PART_UNITS)) ?? null;
}

/** Paths that only one of two payloads has, or that have another type. Values differ from event to event and say little. */
export function payloadChanges(before: unknown, now: unknown): { added: string[]; removed: string[]; retyped: string[] } {
  const [old, fresh] = [typesOf(before), typesOf(now)];
  return {
    added: [...fresh.keys()].filter((path) => !old.has(path)),
    removed: [...old.keys()].filter((path) => !fresh.has(path)),
    retyped: [...fresh].flatMap(([path, type]) => {
      const earlier = old.get(path);
      return earlier === undefined || earlier === type ? [] : [`${path}: ${earlier} → ${type}`];
    }),
  };
}

const PATHS_MAX = 200;

/** The type of each field by its path, breadth first and bounded. Items of lists are not compared. */
function typesOf(payload: unknown): Map<string, string> {
  const types = new Map<string, string>();
  const open: [path: string, value: unknown][] = [["data", payload]];
  for (let next = open.shift(); next && types.size < PATHS_MAX; next = open.shift()) {
    const [path, value] = next;
    types.set(path, value === null ? "null" : Array.isArray(value) ? "list" : typeof value);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      open.push(...Object.entries(value).map(([name, field]): [string, unknown] => [`${path}.${name.slice(0, 100)}`, field]));
  }
  return types;
}
