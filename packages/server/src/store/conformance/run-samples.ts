/** Functions, runs, leases and rules for the suite: as simple as they can be. What runs really do is decided elsewhere. */

import assert from "node:assert/strict";
import {
  type AppId,
  createEventIdGenerator,
  type EventIdGenerator,
  type FunctionNo,
  type LeaseId,
  type RunId,
  type StepId,
} from "@inlet/protocol";
import type {
  AppSyncParams,
  CallRecord,
  ClaimedEntry,
  Environment,
  EventBatch,
  Lease,
  NewEvent,
  NewRun,
  RunAdvanceResult,
  RunChange,
  RunEnd,
  RunKey,
  RunState,
  StepWrite,
  Store,
  WaitRules,
} from "../contract/index.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "./samples.ts";

export const NODE = "node-1";
/** For each instant one: a generator goes on from the latest instant it was asked for, and cases of one process would depend on each other. */
const runIds = new Map<number, EventIdGenerator>();
const leaseIds = createEventIdGenerator();

/** A path is a field of the data; an expression `same <field>` wants it to be what the run's own event says. */
export const SAMPLE_RULES: WaitRules = {
  keyAt: (event, path) => textAt(event, path),
  matches: ({ expression }, event, runEvent) =>
    expression === null || textAt(event, expression.slice(5)) === textAt(runEvent, expression.slice(5)),
};

function textAt(event: NewEvent, field: string): string | null {
  const value = (JSON.parse(event.data) as Record<string, unknown>)[field];
  return value === undefined ? null : JSON.stringify(value);
}

export function sampleLease(changes: Partial<Lease> = {}): Lease {
  const newId = () => leaseIds.next(1_000) as string as LeaseId;
  return { node: NODE, until: 31_000, newId, roomIn: () => Number.POSITIVE_INFINITY, ...changes };
}

export const NO_ROOM = sampleLease({ roomIn: () => 0 });

export function sampleSync(environment: Environment, changes: Partial<AppSyncParams> = {}): AppSyncParams {
  return {
    id: "app_1" as AppId,
    environmentId: environment.id,
    name: "shop",
    url: "http://127.0.0.1:3000/api",
    sdk: "js:v1",
    headers: "service",
    framework: null,
    checksum: "one",
    functions: ["ship", "bill"].map((name) => ({ id: `shop-${name}`, name, config: "{}", crons: [] })),
    syncedAt: 1_000,
    signingKeyId: null,
    ...changes,
  };
}

export interface Scene {
  store: Store;
  environment: Environment;
  /** Two functions. */
  functions: [FunctionNo, FunctionNo];
}

export async function makeScene(store: Store): Promise<Scene> {
  const environment = await makeEnvironment(store);
  await store.appSync(sampleSync(environment));
  const [first, second] = (await store.functionList()).map(({ no }) => no);
  assert.ok(first && second);
  return { store, environment, functions: [first, second] };
}

export function sampleRun(functionNo: FunctionNo, changes: Partial<NewRun> = {}): NewRun {
  return { id: nextRunId(changes.dueAt ?? 1_000), functionNo, lane: "app:1", dueAt: 1_000, rank: 1_000, ...changes };
}

function nextRunId(at: number): RunId {
  const ids = runIds.get(at) ?? createEventIdGenerator();
  runIds.set(at, ids);
  return ids.next(at) as string as RunId;
}

/** An event that starts runs. */
export async function begin(
  { store, environment }: Scene,
  runs: NewRun[],
  changes: Partial<EventBatch> & { event?: Partial<NewEvent> } = {},
) {
  const { event, ...batch } = changes;
  return store.eventAppend(sampleBatch(environment, [sampleEvent({ ...event, runs })], { lease: sampleLease(), ...batch }));
}

/** One run that was leased, ready to be advanced. */
export async function beginOne(scene: Scene, changes: Partial<NewRun> = {}, event: Partial<NewEvent> = {}): Promise<Begun> {
  const run = sampleRun(scene.functions[0], changes);
  const [entry] = (await begin(scene, [run], { event })).leased;
  assert.ok(entry?.runNo);
  return { environmentId: scene.environment.id, run, entry, runNo: entry.runNo };
}

export interface Begun extends RunKey {
  run: NewRun;
  entry: ClaimedEntry;
}

export interface AdvanceOptions {
  entry?: Pick<ClaimedEntry, "no" | "leaseId"> | null;
  now?: number;
  lease?: Lease;
}

/** Advances by what the entry's work led to. */
export function advance(
  { store, environment }: Scene,
  { runNo, entry }: Pick<Begun, "runNo" | "entry">,
  change: RunChange | ((state: RunState) => RunChange),
  options: AdvanceOptions = {},
): Promise<RunAdvanceResult> {
  const { now = 2_000, lease = sampleLease() } = options;
  const worked = options.entry === undefined ? entry : options.entry;
  const decide = typeof change === "function" ? change : () => change;
  return store.runAdvance({ environmentId: environment.id, runNo, entry: worked, now, lease, decide });
}

export function stepId(name: string): StepId {
  return name as StepId;
}

export function sampleStep(name: string, changes: Partial<StepWrite> = {}): StepWrite {
  const open = { kind: "run", status: "running", startedAt: 1_500, endedAt: null, attempts: 1, until: null, detail: null } as const;
  return { id: stepId(name), name, ...open, ...changes };
}

export function doneStep(name: string, value = `{"data":"${name}"}`): StepWrite {
  return sampleStep(name, { status: "completed", endedAt: 2_000, value });
}

export function sampleCall(changes: Partial<CallRecord> = {}): CallRecord {
  const rest = { path: "/api?fnId=ship", stepsGiven: 0, answer: "[]", answerLength: 2, logs: null };
  return { stepId: null, attempt: 0, startedAt: 1_500, endedAt: 1_600, httpStatus: 206, outcome: "ok", ...rest, ...changes };
}

export function sampleEnd(changes: Partial<RunEnd> = {}): RunEnd {
  return { status: "completed", endedAt: 2_000, output: '"done"', error: null, ...changes };
}

export async function detailsOf({ store, environment }: Scene, id: RunId) {
  const run = await store.runGet({ environmentId: environment.id, id });
  assert.ok(run, `run ${id} is there`);
  return run;
}

/** What can be claimed now, of the lane of runs and of the timers. */
export async function claimAll({ store }: Scene, now: number, node = "another", lanes = ["timers", "app:1"]): Promise<ClaimedEntry[]> {
  const found: ClaimedEntry[] = [];
  for (const lane of lanes) {
    const lease = sampleLease({ node, until: now + 30_000 });
    const { claimed } = await store.queueClaimMany({ lane, limit: 1_000, now, lease, limits: [] });
    found.push(...claimed);
  }
  return found;
}
