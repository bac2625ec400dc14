/** Looking at runs through REST, as a user would, until they are as expected. */

import assert from "node:assert/strict";
import type { ServiceClient } from "./service.ts";

/** Looks often at first, then less: many tests wait at once, and looking takes time from what they wait for. */
const POLL_MS = { first: 10, factor: 1.25, max: 500 };
/** Far longer than anything takes on a machine that does other things as well. */
const DEADLINE_MS = 300_000;

export interface ShownRun {
  id: string;
  status: string;
  function: { id: string; name: string };
  event: { id: string; name: string } | null;
  cron: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  originalRunId: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: what functions return has every shape
  output?: any;
  error?: { name: string; message: string; stack?: string } | null;
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  steps?: any[];
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  attempts?: any[];
}

const ENDS: readonly string[] = ["completed", "failed", "cancelled"];

/** Asks until there is something else than undefined. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value | undefined> | Value | undefined,
  deadlineMs = DEADLINE_MS,
): Promise<Value> {
  const deadline = Date.now() + deadlineMs;
  for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * POLL_MS.factor, POLL_MS.max)) {
    const value = await look();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

export async function runsOfEvent(service: ServiceClient, eventId: string, headers: Record<string, string> = {}): Promise<ShownRun[]> {
  return read(service, `/events/${eventId}/runs?limit=100`, headers);
}

export async function runsOfFunction(
  service: ServiceClient,
  functionId: string,
  headers: Record<string, string> = {},
): Promise<ShownRun[]> {
  return read(service, `/runs?limit=100&function=${functionId}`, headers);
}

export async function runDetails(service: ServiceClient, id: string, headers: Record<string, string> = {}): Promise<ShownRun> {
  return read(service, `/runs/${id}`, headers);
}

/** Asks again while the store is too busy to answer, as a client does. */
async function read<Data>(service: ServiceClient, path: string, headers: Record<string, string>): Promise<Data> {
  return until(`a response to GET ${path}`, async () => {
    const { status, body, text } = await service.rest("GET", path, { headers });
    if (status === 503) return undefined;
    assert.equal(status, 200, text);
    return body.data;
  });
}

export function isEnded({ status }: ShownRun): boolean {
  return ENDS.includes(status);
}

/** The one run that an event started, of one function if it started several, once it has ended. */
export async function endedRun(
  service: ServiceClient,
  eventId: string,
  functionId?: string,
  headers: Record<string, string> = {},
): Promise<ShownRun> {
  let last: ShownRun[] = [];
  const found = await until(`the run of event ${eventId}`, async () => {
    last = (await runsOfEvent(service, eventId, headers)).filter((run) => functionId === undefined || run.function.id === functionId);
    return last.find(isEnded);
  }).catch(async (error: Error) => {
    const details = await Promise.all(last.map(({ id }) => runDetails(service, id, headers)));
    throw new Error(`${error.message}: ${JSON.stringify(details, null, 1).slice(0, 4_000)}`);
  });
  return runDetails(service, found.id, headers);
}
