/**
 * How fast webhook requests become events, beside single events of the same size on the same server; and what Event API
 * senders and a quick webhook notice while other people's transforms loop for ever.
 */

import { benchDisk } from "./disk.ts";
import type { LoadResult } from "./load.ts";
import { type DriveResult, drive, load, residentMb, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface WebhookOptions {
  seconds: number;
  rounds: number;
}

export const TYPICAL = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return { name: "stripe/" + evt.type, data: evt, ts: evt.created * 1000 };
}`;
const LOOP = "function transform() { for (;;); }";
const LOOPS = 20;
export const WEBHOOK_SHARE_GOAL = 0.15;
const LOOPS_P99_GOAL = 3;

export async function benchWebhooks(options: WebhookOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const inlet = await startInlet(folder);
    try {
      const typical = await makeWebhook(inlet, TYPICAL);
      const disk = benchDisk(folder, "before");
      return [...disk, ...(await compare(options, inlet, typical)), ...(await besideLoops(options, inlet, typical))];
    } finally {
      await inlet.stop();
    }
  });
}

async function compare({ seconds, rounds }: WebhookOptions, inlet: Server, webhook: string): Promise<Row[]> {
  const results: { events: DriveResult; small: DriveResult; large: DriveResult }[] = [];
  for (let round = 0; round < rounds; round++) {
    const events = await drive(inlet, 64, "event-1kb", seconds);
    const small = await drive(inlet, 64, "webhook-1kb", seconds, webhook);
    const large = await drive(inlet, 16, "webhook-96kb", seconds, webhook);
    results.push({ events, small, large });
  }
  const of = (pick: (result: (typeof results)[number]) => number) => median(results.map(pick));
  const share = of(({ small, events }) => small.perSecond / events.perSecond);
  return [
    { what: "single events of 1 KB, 64 connections", value: of(({ events }) => events.perSecond), unit: "req/s" },
    { what: "webhook requests of 1 KB, 64 connections", value: of(({ small }) => small.perSecond), unit: "req/s" },
    {
      what: "share of the single-event figure",
      value: share,
      unit: "×",
      goal: `≥ ${WEBHOOK_SHARE_GOAL}`,
      met: share >= WEBHOOK_SHARE_GOAL,
    },
    { what: "webhook requests of 1 KB: p99", value: of(({ small }) => small.p99Ms), unit: "ms" },
    { what: "webhook requests of 1 KB: CPU per request", value: of(({ small }) => small.cpuPerRequest * 1e6), unit: "µs" },
    { what: "webhook requests of 96 KB, 16 connections", value: of(({ large }) => large.perSecond), unit: "req/s" },
    { what: "resident after load", value: residentMb(inlet) ?? Number.NaN, unit: "MB" },
  ];
}

/** 20 webhooks whose transforms never end are kept busy by a client of their own. */
async function besideLoops({ seconds, rounds }: WebhookOptions, inlet: Server, quickWebhook: string): Promise<Row[]> {
  const loops = await Promise.all(Array.from({ length: LOOPS }, () => makeWebhook(inlet, LOOP)));
  const send = () => load(`${inlet.url}/e/bench`, 8, "event", seconds);
  const call = () => load(quickWebhook, 8, "webhook-1kb", seconds);
  const beside = async (work: () => Promise<LoadResult>) => {
    const looping = load(loops.join(","), LOOPS, "webhook-1kb", seconds + 1);
    const result = await work();
    await looping;
    return result;
  };
  const events: { quiet: number; loud: number }[] = [];
  const webhooks: { quiet: number; loud: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    events.push({ quiet: (await send()).p99Ms, loud: (await beside(send)).p99Ms });
    webhooks.push({ quiet: (await call()).p99Ms, loud: (await beside(call)).p99Ms });
  }
  return [...p99Rows("Event API", events, LOOPS_P99_GOAL), ...p99Rows("a quick webhook", webhooks)];
}

function p99Rows(what: string, results: readonly { quiet: number; loud: number }[], atMost?: number): Row[] {
  const ratio = median(results.map(({ quiet, loud }) => loud / quiet));
  const goal = atMost === undefined ? {} : { goal: `≤ ${atMost}`, met: ratio <= atMost };
  return [
    { what: `${what}: p99, quiet`, value: median(results.map(({ quiet }) => quiet)), unit: "ms" },
    { what: `${what}: p99 while ${LOOPS} transforms loop, against quiet`, value: ratio, unit: "×", ...goal },
  ];
}

export async function makeWebhook(inlet: Server, transform: string): Promise<string> {
  const answer = await fetch(`${inlet.url}/v1/webhooks`, {
    method: "POST",
    headers: { authorization: "Bearer bench", "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", transform }),
  });
  const { data } = (await answer.json()) as { data: { url: string } };
  return data.url;
}
