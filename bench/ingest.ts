/**
 * How fast events are accepted, durably, beside a floor that stores nothing. Both are driven in turn, several rounds, so that a
 * slow spell of the machine hits both; the ratio of a round counts, and the median of the rounds.
 */

import { dirname, join } from "node:path";
import { benchDisk } from "./disk.ts";
import { fillStore } from "./fill-store.ts";
import { type DriveResult, drive, load, residentMb, type Server, startFloor, startInlet } from "./processes.ts";
import { benchQuotas } from "./quotas.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface IngestOptions {
  seconds: number;
  rounds: number;
  stored: number;
  /** Drive this server instead, alone. */
  url: string | undefined;
  key: string;
}

export interface Shape {
  label: string;
  connections: number;
  body: string;
  eventsPerRequest: number;
  goal: number;
}

export const SHAPES: Shape[] = [
  { label: "single events, 64 connections", connections: 64, body: "event", eventsPerRequest: 1, goal: 0.6 },
  { label: "batches of 100, 16 connections", connections: 16, body: "batch-100", eventsPerRequest: 100, goal: 0.25 },
];
const FULL_STORE_GOAL = 0.8;
export const RESIDENT_MB_GOAL = 130;
const FIRST_EVENT_MS_GOAL = 700;
const START_UPS = 5;

export async function benchIngest(options: IngestOptions): Promise<Row[]> {
  if (options.url) return driveOther(options, options.url);
  return inTemporaryFolder(async (folder) => {
    const rows = await startUp(join(folder, "start-up"));
    const empty = await compare(options, join(folder, "empty"), "empty store");
    rows.push(...empty.rows);
    rows.push(...(await benchQuotas(join(folder, "quotas"), options)));
    if (options.stored > 0) rows.push(...(await full(options, join(folder, "full"), empty.perSecond)));
    return rows;
  });
}

export async function startUp(folder: string): Promise<Row[]> {
  const starts: StartUp[] = [];
  for (let i = 0; i < START_UPS; i++) starts.push(await startOnce(folder));
  const firstEventMs = median(starts.map((start) => start.firstEventMs));
  const resident = median(starts.map((start) => start.residentMb));
  return [
    {
      what: "first event accepted after start",
      value: firstEventMs,
      unit: "ms",
      goal: `≤ ${FIRST_EVENT_MS_GOAL}`,
      met: firstEventMs <= FIRST_EVENT_MS_GOAL,
    },
    { what: "resident at rest", value: resident, unit: "MB", goal: `≤ ${RESIDENT_MB_GOAL}`, met: resident <= RESIDENT_MB_GOAL },
  ];
}

export interface StartUp {
  /** From starting the process to the response to the first event. */
  firstEventMs: number;
  /** A second later. */
  residentMb: number;
}

export async function startOnce(folder: string, program?: string): Promise<StartUp> {
  const begun = performance.now();
  const server = await startInlet(folder, [], program);
  try {
    const answer = await fetch(`${server.url}/e/bench`, { method: "POST", body: '{"name":"bench/first","data":{}}' });
    if (answer.status !== 200) throw new Error(`the first event was answered with ${answer.status}`);
    const firstEventMs = performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { firstEventMs, residentMb: residentMb(server) ?? Number.NaN };
  } finally {
    await server.stop();
  }
}

async function full(options: IngestOptions, folder: string, emptyPerSecond: number[]): Promise<Row[]> {
  await fillStore(folder, options.stored);
  const { rows, perSecond } = await compare(options, folder, `${options.stored.toLocaleString("en")} stored`);
  const shares = SHAPES.map((shape, i): Row => {
    const value = (perSecond[i] ?? 0) / (emptyPerSecond[i] ?? 1);
    return {
      what: `${shape.label}: full store against empty`,
      value,
      unit: "×",
      goal: `≥ ${FULL_STORE_GOAL}`,
      met: value >= FULL_STORE_GOAL,
    };
  });
  return [...rows, ...shares];
}

/** Returns, beside the rows, the share of the floor for each shape: the figure that can be compared across the run. */
async function compare(options: IngestOptions, folder: string, label: string): Promise<{ rows: Row[]; perSecond: number[] }> {
  const floor = await startFloor();
  const inlet = await startInlet(folder);
  const rows: Row[] = benchDisk(dirname(folder), label);
  const perSecond: number[] = [];
  try {
    for (const shape of SHAPES) {
      const { shapeRows, share } = await compareShape(options, floor, inlet, shape, label);
      rows.push(...shapeRows);
      perSecond.push(share);
    }
    rows.push({ what: `${label}: resident after load`, value: residentMb(inlet) ?? Number.NaN, unit: "MB" });
  } finally {
    await inlet.stop();
    await floor.stop();
  }
  return { rows, perSecond };
}

async function compareShape(options: IngestOptions, floor: Server, inlet: Server, shape: Shape, label: string) {
  const { connections, body, eventsPerRequest, goal } = shape;
  const rounds: { bare: DriveResult; ours: DriveResult }[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const bare = await drive(floor, connections, body, options.seconds);
    const ours = await drive(inlet, connections, body, options.seconds);
    rounds.push({ bare, ours });
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick));
  const share = of(({ ours, bare }) => ours.perSecond / bare.perSecond);
  const what = (name: string) => `${label}: ${shape.label}: ${name}`;
  const shapeRows: Row[] = [
    { what: what("floor"), value: of(({ bare }) => bare.perSecond * eventsPerRequest), unit: "events/s" },
    { what: what("Inlet"), value: of(({ ours }) => ours.perSecond * eventsPerRequest), unit: "events/s" },
    { what: what("share of the floor"), value: share, unit: "×", goal: `≥ ${goal}`, met: share >= goal },
    { what: what("p50"), value: of(({ ours }) => ours.p50Ms), unit: "ms" },
    { what: what("p99"), value: of(({ ours }) => ours.p99Ms), unit: "ms" },
    { what: what("CPU per request"), value: of(({ ours }) => ours.cpuPerRequest * 1e6), unit: "µs" },
  ];
  return { shapeRows, share };
}

async function driveOther(options: IngestOptions, url: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { label, connections, body, eventsPerRequest } of SHAPES) {
    const result = await load(`${url}/e/${options.key}`, connections, body, options.seconds);
    rows.push(
      { what: `${url}: ${label}`, value: (result.requests * eventsPerRequest) / result.seconds, unit: "events/s" },
      { what: `${url}: ${label}: p50`, value: result.p50Ms, unit: "ms" },
      { what: `${url}: ${label}: p99`, value: result.p99Ms, unit: "ms" },
      { what: `${url}: ${label}: failures`, value: result.failures, unit: "requests" },
    );
  }
  return rows;
}
