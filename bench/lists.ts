/**
 * How long the pages take that the dashboard asks for, in a full store: each is asked for over and over, one at a time, by a
 * client on the same machine, so a figure holds what the service took and the way there and back. Once right after the start, while
 * the service still counts event types anew, and once at rest.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStore, RARE_SOURCE } from "./fill-store.ts";
import { type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";

export interface ListsOptions {
  events: number;
  /** Kept, and taken as it is when it is there. */
  folder: string | undefined;
}

const GOAL_MS = 100;
const ROUNDS = 3;
const ASKED_TIMES = 100;
const PAGE = "limit=50";
const HOUR_MS = 3_600_000;
const COUNTED_WITHIN_MS = 600_000;

export async function benchLists({ events, folder }: ListsOptions): Promise<Row[]> {
  const place = folder ?? mkdtempSync(join(tmpdir(), "inlet-bench-"));
  try {
    const data = join(place, `events-${events}`);
    if (!existsSync(data)) await fillStore(data, events);
    const server = await startInlet(data);
    try {
      const pages = await pagesOf(server, events);
      const counting = await askAll(server, pages, "while event types are counted anew");
      await untilCounted(server, events);
      return [...counting, ...(await askAll(server, pages, "at rest"))];
    } finally {
      await server.stop();
    }
  } finally {
    if (folder === undefined) rmSync(place, { recursive: true, force: true });
  }
}

/** What it shows, where it is, and its goal if that is another; null: it has none. */
type Page = [what: string, path: string, goalMs?: number | null];

/** As the dashboard asks for them. */
async function pagesOf(server: Server, events: number): Promise<Page[]> {
  const newest = (await ask(server, `/events?${PAGE}`)).data[0] as { id: string; receivedAt: string };
  const [to, from] = [Date.parse(newest.receivedAt), Date.parse(newest.receivedAt) - events];
  const middle = `from=${from + Math.floor(events / 2)}&to=${from + Math.floor(events / 2) + Math.min(HOUR_MS, events / 4)}`;
  const dedupId = `order-${Math.floor(events / 2 / 2_000) * 2_000}`;
  return [
    ["nothing at all, for comparison", "/../health", null],
    ["events: first page", `/events?${PAGE}`],
    ["events: one name", `/events?${PAGE}&name=shop/order.created`],
    ["events: names by prefix", `/events?${PAGE}&name=shop/*`],
    ["events: a name nobody sent", `/events?${PAGE}&name=shop/none`],
    ["events: an hour of the past", `/events?${PAGE}&${middle}`],
    ["events: one name in an hour of the past", `/events?${PAGE}&${middle}&name=shop/event.1`],
    ["events: a kind of source", `/events?${PAGE}&source=key`],
    ["events: a source of the oldest events only", `/events?${PAGE}&source=${RARE_SOURCE.id}`],
    ["events: a dedup id", `/events?${PAGE}&id=${dedupId}`],
    ["events: text that many hold", `/events?${PAGE}&q=inlet-mug`],
    ["events: text that none holds, first answer", `/events?${PAGE}&q=nowhere-to-be-found`],
    ["one event by its Event ID", `/events/${newest.id}`],
    ["event types", "/event-types?limit=100"],
    ["one event type", "/event-types/shop%2Forder.created"],
    ["chart of an hour", `/stats?interval=minute&from=${to - HOUR_MS}&to=${to}`],
    ["chart of a week", `/stats?interval=hour&from=${to - 7 * 24 * HOUR_MS}&to=${to}`],
  ];
}

/** Several rounds, of which the median counts: others may be busy on this machine. */
async function askAll(server: Server, pages: readonly Page[], when: string): Promise<Row[]> {
  const rounds: Map<string, number[]>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await askRound(server, pages));
  return pages.flatMap(([what, , goalMs = GOAL_MS]): Row[] => {
    const of = (share: number) => median(rounds.map((round) => quantile(round.get(what) ?? [], share)));
    const [p50, p99] = [of(0.5), of(0.99)];
    const goalOf = goalMs === null ? {} : { goal: `≤ ${goalMs}`, met: p99 <= goalMs };
    return [
      { what: `${when}: ${what}: p50`, value: p50, unit: "ms" },
      { what: `${when}: ${what}: p99`, value: p99, unit: "ms", ...goalOf },
    ];
  });
}

/** In turn, so that a slow spell of the machine hits all alike. */
async function askRound(server: Server, pages: readonly Page[]): Promise<Map<string, number[]>> {
  const times = new Map(pages.map(([what]) => [what, [] as number[]]));
  for (let turn = 0; turn < ASKED_TIMES; turn++) {
    for (const [what, path] of pages) {
      const begun = performance.now();
      await ask(server, path);
      times.get(what)?.push(performance.now() - begun);
    }
  }
  return times;
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

async function untilCounted(server: Server, events: number): Promise<void> {
  const deadline = Date.now() + COUNTED_WITHIN_MS;
  for (let counted = 0; counted < events; ) {
    if (Date.now() > deadline) throw new Error(`only ${counted} events were counted`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { data } = await ask(server, "/event-types?limit=100");
    counted = (data as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
  }
}

async function ask({ url }: Server, path: string): Promise<{ data: unknown[] }> {
  const response = await fetch(`${url}/v1${path}`, { headers: { authorization: "Bearer bench" } });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as { data: unknown[] };
}
