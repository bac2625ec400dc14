/** A store whose events and runs are all old enough to be archived, and archives in folders of their own. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { createEventIdGenerator } from "@inlet/protocol";
import { pino } from "pino";
import { Archive } from "../../src/archive/archive.ts";
import { ArchiveLease } from "../../src/archive/archive-lease.ts";
import { DecoderProcess } from "../../src/archive/files/decoder-process.ts";
import { rowsOf } from "../../src/archive/files/read-file.ts";
import type { ArchiveTarget } from "../../src/archive/targets/archive-target.ts";
import { openTarget } from "../../src/archive/targets/open-target.ts";
import { compileWhere } from "../../src/fan-out/where.ts";
import { SAMPLE_RULES, sampleLease } from "../../src/store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../src/store/conformance/samples.ts";
import type {
  ArchivedRow,
  ArchivedTable,
  Environment,
  NewEvent,
  PartitionArchive,
  RetentionMaintainParams,
  Store,
} from "../../src/store/contract/index.ts";
import { poll } from "./app.ts";
import { inDatabase, openPatientStore } from "./postgres.ts";

export const DAY_MS = 86_400_000;
/** Retention times that keep nothing of what the scene has. */
const KEPT_MS = 30 * DAY_MS;
const ALL_COUNTED = "SELECT coalesce(max(sequence), 0) <= (SELECT sequence FROM event_types_counted) AS yes FROM events";

/** One process reads the files for all archives of a test file. */
export const decoder = new DecoderProcess();

const urls = new WeakMap<Store, string>();

export async function archiveFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "inlet-archive-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export function folderUrl(folder: string): string {
  return pathToFileURL(folder).href;
}

export async function openArchivedStore(t: TestContext, url: string): Promise<Store> {
  const store = await openSampleStore(url);
  t.after(() => store.stop());
  return store;
}

export async function openSampleStore(url: string): Promise<Store> {
  const store = await openPatientStore({ url, rules: SAMPLE_RULES });
  urls.set(store, url);
  return store;
}

export function archiveOf(store: Store, target: ArchiveTarget | string, now = store.storeNow): Archive {
  return new Archive({
    target: typeof target === "string" ? openTarget(folderUrl(target), {}) : target,
    decoder,
    lease: new ArchiveLease({ store, now }),
    store,
    compileWhere,
    log: pino({ level: "silent" }),
    stopping: new AbortController().signal,
  });
}

/** Everything that the store has is past its retention. */
export async function archiveAll(
  store: Store,
  archive: PartitionArchive,
  keptMs: Partial<RetentionMaintainParams["keptMs"]> = {},
): Promise<void> {
  await countAll(store);
  await sweepAll(store, archive, keptMs);
}

/** What is not counted is not archived. */
export async function countAll(store: Store): Promise<void> {
  await poll(async () => {
    await store.eventTypeCount({ limit: 1_000 });
    const { rows } = await inDatabase(urls.get(store) as string, (client) => client.query<{ yes: boolean }>(ALL_COUNTED));
    // Transactions of other databases of the server may hold it up.
    return rows[0]?.yes ? true : null;
  }, "all events to be counted");
}

export async function sweepAll(
  store: Store,
  archive: PartitionArchive,
  keptMs: Partial<RetentionMaintainParams["keptMs"]> = {},
): Promise<void> {
  await store.retentionMaintain({
    now: store.storeNow() + 60 * DAY_MS,
    keptMs: { events: KEPT_MS, runs: KEPT_MS, requests: KEPT_MS, ...keptMs },
    archive,
  });
}

/** Events received at an instant, whose ids say so. */
export function appendAt(store: Store, environment: Environment, receivedAt: number, events: Partial<NewEvent>[]) {
  const ids = createEventIdGenerator();
  const batch = events.map((event) => sampleEvent({ id: ids.next(receivedAt), ts: receivedAt, ...event }));
  return store.eventAppend(sampleBatch(environment, batch, { receivedAt, lease: sampleLease() }));
}

export async function rowsIn(folder: string, table: ArchivedTable, name: string): Promise<ArchivedRow[]> {
  const file = await openTarget(folderUrl(folder), {}).open(name);
  if (!file) return [];
  try {
    const rows: ArchivedRow[] = [];
    for await (const row of rowsOf(decoder, table, file)) rows.push(row);
    return rows;
  } finally {
    await file.close();
  }
}

export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
