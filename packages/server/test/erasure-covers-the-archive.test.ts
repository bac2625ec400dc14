/** An erasure overwrites what was archived of the events and of what followed from them, wherever each of it is. */

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createEventIdGenerator, type EventId } from "@inlet/protocol";
import type { Archive } from "../src/archive/archive.ts";
import { rowsOf } from "../src/archive/files/read-file.ts";
import type { ArchivedFile, ArchiveTarget } from "../src/archive/targets/archive-target.ts";
import { folderTarget } from "../src/archive/targets/folder-target.ts";
import { openTarget } from "../src/archive/targets/open-target.ts";
import { createApprovals } from "../src/flows/decide-approvals.ts";
import type { JobFilter } from "../src/jobs/job-kind.ts";
import { eraseEvents } from "../src/jobs/kinds/erase-events.ts";
import {
  advance,
  beginOne,
  doneStep,
  makeScene,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleStep,
} from "../src/store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../src/store/conformance/samples.ts";
import {
  ARCHIVED_TABLES,
  type ArchivedDay,
  type ClaimedEntry,
  type Job,
  type JobItem,
  signalEventName,
} from "../src/store/contract/index.ts";
import {
  appendAt,
  archiveAll,
  archiveFolder,
  archiveOf,
  DAY_MS,
  dayText,
  decoder,
  folderUrl,
  openArchivedStore,
  rowsIn,
} from "./support/archive-scene.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const NEEDLE = "correct-horse-battery-staple";
const KEPT = "somebody-else-entirely";
const SECRET = JSON.stringify({ who: NEEDLE });

/**
 * The run of an event, its step's result, the approval that it waited for, its invocation, its end, the event about it, and a run that waited
 * for the event: all have the needle. Returns the id of the event that all of it follows from.
 */
async function makeHistory(scene: Scene): Promise<EventId> {
  const { store, environment } = scene;
  const at = Date.now() - 3 * DAY_MS;
  await appendAt(store, environment, at, [{ data: JSON.stringify({ who: KEPT }) }]);
  const event = sampleEvent({ data: SECRET, extras: `{"user":{"email":"${NEEDLE}"}}` });
  const begun = await beginOne(scene, {}, event);
  const failed = sampleEvent({ name: "inlet/function.failed", data: JSON.stringify({ run_id: begun.run.id, event: NEEDLE }) });
  const about = sampleBatch(environment, [{ ...failed, sourceRun: begun.run.id }], {
    source: { kind: "internal", id: "executor" },
    receivedAt: 2_000,
  });
  const until = 90_000;
  const asked = sampleStep("ok", { kind: "signal", status: "waiting", until });
  const wait = { kind: "signal", eventName: signalEventName("go"), expression: null, match: null, since: 1_000 } as const;
  await advance(scene, begun, {
    status: "waiting",
    steps: [asked],
    waits: [{ ...wait, stepId: asked.id, expiresAt: until }],
    entries: [{ kind: "resume", stepId: asked.id, dueAt: until }],
  });
  const [answered] = await decideBy(scene, NEEDLE);
  assert.ok(answered, "the decision resumes the run");
  const invoked = sampleEvent({ data: SECRET });
  await store.eventAppend(sampleBatch(environment, [invoked], { receivedAt: 1_900, lease: sampleLease() }));
  const invocation = sampleStep("i", { kind: "invoke", status: "completed", eventId: invoked.id, endedAt: 2_000, value: SECRET });
  const last = { steps: [doneStep("a", SECRET), invocation], end: sampleEnd({ output: SECRET, endedAt: 2_000 }), events: [about] };
  await advance(scene, begun, last, { entry: answered });
  const waiting = await beginOne(scene, {}, { data: JSON.stringify({ who: KEPT }) });
  const received = sampleStep("w", {
    kind: "wait",
    status: "completed",
    eventId: event.id,
    value: SECRET,
    endedAt: 2_000,
    startedAt: 1_000,
  });
  await advance(scene, waiting, { steps: [received], end: sampleEnd({ output: SECRET, endedAt: 2_000 }) });
  return event.id;
}

/** Over REST, for the signal that a run waits for. Returns the entries that resume it. */
async function decideBy({ store, environment }: Scene, by: string): Promise<ClaimedEntry[]> {
  const taken: ClaimedEntry[] = [];
  const approvals = createApprovals({
    store,
    plan: (_, event) => event,
    lease: sampleLease,
    take: (entries) => taken.push(...entries),
    eventIds: createEventIdGenerator(),
    now: () => 1_800,
  });
  const approval = await approvals.request(environment.id, {
    baseUrl: "http://localhost",
    signal: "go",
    prompt: NEEDLE,
    data: "null",
    confirmsReject: false,
    expiresAt: 90_000,
  });
  assert.ok(approval?.run, "a run waits for it");
  await approvals.decide(environment.id, approval.id, { decision: "approved", by, comment: NEEDLE, data: "null" });
  return taken;
}

/** Everything that is in the files. */
async function contentsOf(folder: string): Promise<string> {
  const target = openTarget(folderUrl(folder), {});
  const texts: string[] = [];
  for (const table of ARCHIVED_TABLES) {
    for (const { name } of await target.list(`production/${table}/`)) {
      const file = await target.open(name);
      assert.ok(file);
      for await (const row of rowsOf(decoder, table, file)) texts.push(JSON.stringify(row));
      await file.close();
      // Nor in the statistics, or compressed in such a way that it can be read.
      texts.push((await readFile(join(folder, name))).toString("latin1"));
    }
  }
  return texts.join("\n");
}

async function rowsOfStore(url: string): Promise<string> {
  const { rows } = await inDatabase(url, (client) =>
    client.query(`
      SELECT (SELECT json_agg(e)::text FROM events AS e) AS events, (SELECT json_agg(r)::text FROM runs AS r) AS runs,
        (SELECT json_agg(s)::text FROM steps AS s) AS steps`),
  );
  return JSON.stringify(rows);
}

/** As the runner of jobs does it. */
async function erase({ store, environment }: Scene, archive: Archive, filter: JobFilter = { q: NEEDLE }): Promise<number> {
  const kind = eraseEvents({
    store,
    archive,
    sourceName: () => "",
    cancel: () => Promise.reject(new Error("all have ended")),
    gatheringWithout: () => null,
    environment: () => environment,
  });
  const items: JobItem[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await kind.find(environment, filter, cursor ?? null, new AbortController().signal);
    items.push(...page.found.map(({ item }) => item));
    cursor = page.next;
  }
  if (items.length > 0) await kind.work({ environmentId: environment.id } as Job, items);
  return items.length;
}

async function prepare(t: TestContext) {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const scene = await makeScene(store);
  const event = await makeHistory(scene);
  return { url, folder, scene, event, archive: archiveOf(store, folder) };
}

const CASES = {
  "everything is archived": {},
  "the runs are still in the store": { runs: null },
  "the events are still in the store": { events: null },
};
for (const [title, keptMs] of Object.entries(CASES)) {
  test(`an erasure finds all of it when ${title}`, { skip }, async (t) => {
    const { url, folder, scene, event, archive } = await prepare(t);
    await archiveAll(scene.store, archive, keptMs);
    assert.match((await contentsOf(folder)) + (await rowsOfStore(url)), new RegExp(NEEDLE));
    assert.equal(await erase(scene, archive, { event }), 1);
    const left = await contentsOf(folder);
    assert.doesNotMatch(left, new RegExp(NEEDLE));
    assert.doesNotMatch(await rowsOfStore(url), new RegExp(NEEDLE));
    assert.match(left + (await rowsOfStore(url)), new RegExp(KEPT), "what belongs to others stays");
    assert.equal(await erase(scene, archive), 0, "nothing with its content is left to find");
  });
}

test("an event that is archived, and whose partition is not dropped yet, is one item, and erased in both", { skip }, async (t) => {
  const { url, folder, scene, event, archive } = await prepare(t);
  const keeping = {
    alone: (work: () => Promise<void>) => archive.alone(work),
    write: async (day: ArchivedDay) => ((await archive.write(day)) === "written" ? ("failed" as const) : assert.fail()),
  };
  await archiveAll(scene.store, keeping);
  for (const texts of [await contentsOf(folder), await rowsOfStore(url)]) assert.match(texts, new RegExp(NEEDLE));
  assert.equal(await erase(scene, archive, { event }), 1);
  assert.doesNotMatch((await contentsOf(folder)) + (await rowsOfStore(url)), new RegExp(NEEDLE));
});

test("what is erased while its partition is archived is not archived, and one who writes the archive is waited for", {
  skip,
}, async (t) => {
  const { url, folder, scene, archive } = await prepare(t);
  let refused: unknown;
  await archive.alone(async () => {
    refused = await erase(scene, archive).catch((error: unknown) => error);
  });
  assert.match(String(refused), /the archive is being written/);
  await erase(scene, archive);
  await archiveAll(scene.store, archive);
  assert.doesNotMatch((await contentsOf(folder)) + (await rowsOfStore(url)), new RegExp(NEEDLE));
  assert.ok((await readdir(join(folder, "production"))).includes("events"));
});

/** How often each file was opened, and how often read after its footer. */
function countingTarget(folder: string) {
  const whole = folderTarget(folder);
  const [opened, read] = [new Map<string, number>(), new Map<string, number>()];
  const more = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const target: ArchiveTarget = {
    ...whole,
    async open(name) {
      const file = await whole.open(name);
      more(opened, name);
      let isFooter = true;
      const slice: ArchivedFile["slice"] = (start, end) => {
        if (!isFooter) more(read, name);
        isFooter = false;
        return file?.slice(start, end) ?? assert.fail();
      };
      return file && { ...file, slice };
    },
  };
  const forget = () => [opened, read].map((counts) => counts.clear());
  return { target, opened, read, forget };
}

test("an erasure reads the files that may hold what it covers, and of the others a footer, once", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const scene = await makeScene(store);
  const days = [...Array(12).keys()].map((n) => Date.now() - (20 - n) * DAY_MS);
  for (const at of days) await appendAt(store, scene.environment, at, [{ data: SECRET }, { data: SECRET }]);
  await archiveAll(store, archiveOf(store, folder));
  const { target, opened, read, forget } = countingTarget(folder);
  const archive = archiveOf(store, target);
  const files = days.map((at) => `production/events/${dayText(at)}.parquet`);
  const idOf = async (n: number) => (await rowsIn(folder, "events", files[n] as string))[0]?.event_id as string;

  assert.equal(await erase(scene, archive, { event: await idOf(3) }), 1);
  assert.deepEqual([...read.keys()], [files[3]], "found and followed by the ids in footers");
  assert.deepEqual([...opened.keys()].sort(), files);
  forget();
  // By name and time only the files of these days are asked.
  const [from, to] = [days[7] as number, (days[7] as number) + 1];
  assert.equal(await erase(scene, archive, { from: String(from), to: String(to) }), 2);
  assert.deepEqual([...read.keys()], [files[7]]);
  assert.deepEqual([...opened.keys()].sort(), [files[3], files[7]], "the first was replaced since its footer was read");
  for (const [n, name] of files.entries()) {
    const rows = await rowsIn(folder, "events", name);
    const kept = rows.filter(({ data }) => data === SECRET).length;
    assert.equal(kept, n === 3 ? 1 : n === 7 ? 0 : 2, name);
  }
});
