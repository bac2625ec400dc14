/**
 * What quotas cost those who send events: a service without quotas and one with all quotas on events and bytes, none of which is reached, are
 * driven in turn, several rounds. The ratio of the CPU time per event in a round counts, which other programs hardly disturb, and the median of
 * the rounds.
 */

import { join } from "node:path";
import { type DriveResult, drive, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";

const CONNECTIONS = 64;
/** Code that has just been loaded runs at a fraction of its speed. */
const WARM_SECONDS = 2;
/** Of the CPU time per event without quotas. */
const SHARE_GOAL = 0.95;
const NEVER_REACHED = 1_000_000_000_000;
const QUOTAS = { eventsPerSecond: NEVER_REACHED, eventsPerDay: NEVER_REACHED, bytesPerDay: NEVER_REACHED };

export async function benchQuotas(folder: string, { seconds, rounds }: { seconds: number; rounds: number }): Promise<Row[]> {
  const [free, bound] = [await startInlet(join(folder, "free")), await startInlet(join(folder, "bound"))];
  try {
    await setQuotas(bound);
    return await compare(free, bound, seconds, rounds);
  } finally {
    await Promise.all([free.stop(), bound.stop()]);
  }
}

async function setQuotas({ url }: Server): Promise<void> {
  const answer = await fetch(`${url}/v1/environments/production`, {
    method: "PUT",
    headers: { authorization: "Bearer bench", "content-type": "application/json" },
    body: JSON.stringify({ quotas: QUOTAS }),
  });
  if (answer.status !== 200) throw new Error(`the quotas were not set: ${answer.status} ${await answer.text()}`);
}

async function compare(free: Server, bound: Server, seconds: number, rounds: number): Promise<Row[]> {
  const load = (server: Server, forSeconds: number) => drive(server, CONNECTIONS, "event", forSeconds);
  for (const server of [free, bound]) await load(server, WARM_SECONDS);
  const results: { free: DriveResult; bound: DriveResult }[] = [];
  for (let round = 0; round < rounds; round++) {
    // In turn, the one and the other first.
    const first = round % 2 === 0 ? await load(free, seconds) : null;
    const limited = await load(bound, seconds);
    results.push({ bound: limited, free: first ?? (await load(free, seconds)) });
  }
  const of = (pick: (round: (typeof results)[number]) => number) => median(results.map(pick));
  const share = of((round) => round.free.cpuPerRequest / round.bound.cpuPerRequest);
  const what = `single events, ${CONNECTIONS} connections`;
  return [
    { what: `${what}: no quotas`, value: of((round) => round.free.perSecond), unit: "events/s" },
    { what: `${what}: quotas set`, value: of((round) => round.bound.perSecond), unit: "events/s" },
    { what: `${what}: CPU per event, no quotas`, value: of((round) => round.free.cpuPerRequest * 1e6), unit: "µs" },
    { what: `${what}: CPU per event, quotas set`, value: of((round) => round.bound.cpuPerRequest * 1e6), unit: "µs" },
    { what: `${what}: CPU per event, none against quotas set`, value: share, unit: "×", goal: `≥ ${SHARE_GOAL}`, met: share >= SHARE_GOAL },
  ];
}
