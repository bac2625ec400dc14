/** `explain_event`: where an event came from, what it did, and why each subscribed function was started or not. */

import { askOptional, brief } from "./ask.ts";
import type { Ask, Json } from "./tool.ts";

interface Run {
  id: string;
  status: string;
  function: { id: string; name: string };
  createdAt: string;
}

interface Trigger {
  event?: string;
  if?: string;
  cron?: string;
}

interface RegisteredFunction extends Json {
  id: string;
  triggers: Trigger[];
  config: Json;
  pausedAt: string | null;
  createdAt: string;
}

interface Page<Item> {
  data: Item[];
  page: { next: string | null };
}

const EVENT_UNITS = 6_000;
const FUNCTIONS_MAX = 500;
const SHOWN_MAX = 50;
/** Settings by which a function may leave out an event that it is subscribed to. */
const STARTS = ["rateLimit", "debounce", "batchEvents", "singleton", "idempotency"];

export async function explainEvent(ask: Ask, id: string): Promise<Json> {
  const { data: event } = await ask(`/events/${id}`);
  const runs = async (relation: string) =>
    (await askOptional<Page<Run>>(ask, `/events/${id}/runs?relation=${relation}&limit=50`))?.data ?? [];
  const [started, resumed, cancelled] = [await runs("started"), await runs("resumed"), await runs("cancelled")];
  const all = await functionsOf(ask);
  const subscribed = all.filter(({ triggers }) => triggers.some((trigger) => isFor(trigger, event)));
  const outcomes: Json[] = [];
  for (const one of subscribed.slice(0, SHOWN_MAX)) outcomes.push(await outcomeOf(ask, one, event, started));
  const waiting = await askOptional(ask, `/event-types/${encodeURIComponent(String(event.name))}/waiting`);
  return {
    id: event.id,
    event: brief(event, EVENT_UNITS),
    started: started.map(runText),
    resumed: resumed.map(runText),
    cancelled: cancelled.map(runText),
    subscribed: outcomes,
    otherFunctions: all.length - subscribed.length,
    waitingForThisName: waiting?.data ?? null,
    ...(subscribed.length === 0 && { why: `No function of this environment is subscribed to ${String(event.name)}.` }),
  };
}

async function functionsOf(ask: Ask): Promise<RegisteredFunction[]> {
  const found: RegisteredFunction[] = [];
  let cursor: string | null = null;
  do {
    const query: URLSearchParams = new URLSearchParams({ limit: "100", ...(cursor !== null && { cursor }) });
    const page: Page<RegisteredFunction> | null = await askOptional(ask, `/functions?${query}`);
    found.push(...(page?.data ?? []));
    cursor = page?.page.next ?? null;
  } while (cursor !== null && found.length < FUNCTIONS_MAX);
  return found;
}

function isFor({ event: wanted }: Trigger, { name }: Json): boolean {
  if (wanted === undefined) return false;
  return wanted.endsWith("*") ? String(name).startsWith(wanted.slice(0, -1)) : wanted === name;
}

async function outcomeOf(ask: Ask, one: RegisteredFunction, event: Json, started: readonly Run[]): Promise<Json> {
  const run = started.find((candidate) => candidate.function.id === one.id);
  const shown = { function: one.id, triggers: one.triggers.filter((trigger) => isFor(trigger, event)), pausedAt: one.pausedAt };
  if (run) return { ...shown, outcome: "started", run: run.id, status: run.status };
  return { ...shown, outcome: "not started", why: await reason(ask, one, event) };
}

async function reason(ask: Ask, one: RegisteredFunction, event: Json): Promise<string> {
  if (one.createdAt > String(event.receivedAt)) return `The function was registered at ${one.createdAt}, after the event was received.`;
  const conditions = one.triggers.filter((trigger) => isFor(trigger, event)).map((trigger) => trigger.if);
  if (conditions.every((condition) => condition !== undefined)) {
    const holds = await Promise.all(conditions.map((condition) => doesHold(ask, condition as string, event)));
    if (!holds.includes(true)) return `Its condition does not hold for this event: ${conditions.join(" or ")}`;
  }
  const rules = STARTS.filter((name) => one.config[name] !== undefined && one.config[name] !== null);
  if (rules.length > 0) return `Its settings decide which events start a run: ${rules.join(", ")}.`;
  return "The run was removed since, or the function was not subscribed to this name when the event was received.";
}

/** `where` selects exactly the events that a trigger with the expression would start. */
async function doesHold(ask: Ask, condition: string, { id, name, receivedAt }: Json): Promise<boolean> {
  const from = Date.parse(String(receivedAt));
  const query = new URLSearchParams({ where: condition, name: String(name), from: String(from), to: String(from + 1), limit: "100" });
  const page = await askOptional<Page<Json>>(ask, `/events?${query}`);
  return page?.data.some((found) => found.id === id) ?? false;
}

function runText({ id, status, function: { id: functionId }, createdAt }: Run): Json {
  return { run: id, status, function: functionId, createdAt };
}
