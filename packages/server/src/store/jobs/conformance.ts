import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, type JobId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { beginOne, claimAll, detailsOf, makeScene, type Scene, sampleRun } from "../conformance/run-samples.ts";
import type { Job, JobAdvanceParams, JobItem, JobItemsAddParams, NewJob, Store } from "../contract/index.ts";

const ids = createEventIdGenerator();
const MINE = { node: "one", now: 1_000, until: 2_000, except: [], exceptKinds: [] };

export function jobConformance(engine: Engine): void {
  test(`${engine.name}: a batch of a job has its effect once, with the cursor, and never without the lease`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const eventSequence = await sequenceOfOne(scene);
    const job = await makeJob(scene, [13, 12, 11]);
    assert.equal((await store.jobClaim(MINE))?.id, job.id);
    const [first, again, foreign] = [sampleRun(scene.functions[0]), sampleRun(scene.functions[0]), sampleRun(scene.functions[0])];
    const batch = { worked: 2, failures: [{ item: "x", message: "no" }] };
    const advanced = await store.jobAdvance(step(job, { ...batch, starts: [{ eventSequence, run: { ...first, jobId: job.id } }] }));
    assert.deepEqual([advanced?.status, advanced?.done, advanced?.failed], ["running", 2, 1]);
    assert.equal(await store.jobAdvance(step(job, { ...batch, starts: [{ eventSequence, run: again }] })), null, "the cursor has moved on");
    const stolen = step(job, { node: "two", after: 2, worked: 1, starts: [{ eventSequence, run: foreign }] });
    assert.equal(await store.jobAdvance(stolen), null, "another node has the lease");
    const reopened = await reopen();
    const there = { ...scene, store: reopened };
    assert.equal((await detailsOf(there, first.id)).jobId, job.id);
    for (const { id } of [again, foreign]) assert.equal(await reopened.runFind({ id }), null);
    assert.deepEqual(await reopened.jobItems({ ...key(job), before: 1, limit: 10 }), [13]);
    const { runs } = await reopened.runList({ environmentId: scene.environment.id, jobId: job.id, limit: 10 });
    assert.deepEqual(
      runs.map(({ id }) => id),
      [first.id],
    );
    assert.equal((await claimAll(there, 1_000, "one", [first.lane])).filter(({ runNo }) => runNo !== null).length > 0, true);
  });

  test(`${engine.name}: a job ends with its last item, keeps its first ten errors, and its items go`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const job = await makeJob(scene, ["req_4", "req_3"], "one");
    await store.jobItemsAdd(page(job, { after: 2, items: ["req_2", "req_1", "req_0"], listCursor: null }));
    await store.jobClaim(MINE);
    const items = (before: number, limit = 10) => store.jobItems({ ...key(job), before, limit });
    assert.deepEqual(await items(5, 2), ["req_0", "req_1"], "oldest first");
    assert.deepEqual(await items(3), ["req_2"], "a batch ends with its page");
    const failures = Array.from({ length: 12 }, (_, n) => ({ item: String(n), message: "no" }));
    await store.jobAdvance(step(job, { worked: 3, failures }));
    assert.deepEqual(await items(5), ["req_3", "req_4"], "what is done is not kept");
    const ended = await store.jobAdvance(step(job, { after: 3, worked: 2, failures: [{ item: "last", message: "no" }] }));
    assert.deepEqual([ended?.status, ended?.done, ended?.failed, ended?.errors.length], ["completed", 5, 13, 10]);
    assert.equal(ended?.endedAt, 1_000);
    assert.equal(await store.jobClaim(MINE), null);
    assert.deepEqual(await items(2), []);
  });

  test(`${engine.name}: the report of a job is written with its batch, and stays if a batch has none; a job is found in some environments`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const scene = await makeScene(store);
    const job = await makeJob(scene, ["b", "a"]);
    assert.equal(job.report, null);
    await store.jobClaim(MINE);
    assert.equal((await store.jobAdvance(step(job, { worked: 1, report: '["a"]' })))?.report, '["a"]');
    assert.equal(await store.jobAdvance(step(job, { worked: 1, report: '["again"]' })), null, "the cursor has moved on");
    const last = await store.jobAdvance(step(job, { after: 1, worked: 1, staysOpen: true }));
    assert.deepEqual([last?.report, last?.status], ['["a"]', "running"]);
    const waiting = await store.jobAdvance(step(job, { after: 2, worked: 0, staysOpen: true }));
    assert.deepEqual([waiting?.done, waiting?.endedAt], [2, null], "a last step that waits leaves the job open");
    const ended = await store.jobAdvance(step(job, { after: 2, worked: 0, report: '["a","b"]' }));
    assert.deepEqual([ended?.report, ended?.status], ['["a","b"]', "completed"]);
    const there = await reopen();
    const { id, environmentId } = job;
    assert.deepEqual(await there.jobFind({ environmentIds: [(environmentId + 1) as typeof environmentId, environmentId], id }), ended);
    assert.equal(await there.jobFind({ environmentIds: [(environmentId + 1) as typeof environmentId], id }), null);
    assert.equal(await there.jobFind({ environmentIds: [], id }), null);
  });

  test(`${engine.name}: items are fixed page by page, each page once, only with the lease, and nothing is worked on before`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const job = await makeJob(await makeScene(store), [9, 8], "one");
    assert.deepEqual([job.status, job.total, job.listCursor], ["queued", 2, "c0"]);
    assert.equal(await store.jobClaim({ ...MINE, node: "two" }), null, "it is leased to whoever made it");
    const added = await store.jobItemsAdd(page(job, { after: 2, items: [7], listCursor: "c1" }));
    assert.deepEqual([added?.total, added?.listCursor, added?.status], [3, "c1", "queued"]);
    assert.equal(await store.jobItemsAdd(page(job, { after: 2, items: [7], listCursor: "c1" })), null, "the page is there already");
    assert.equal(await store.jobItemsAdd(page(job, { after: 3, node: "two", items: [6], listCursor: null })), null, "no lease");
    assert.equal(await store.jobAdvance(step(job, { worked: 1 })), null, "not all items are fixed");
    const there = await reopen();
    const claimed = await there.jobClaim({ ...MINE, node: "two", now: 2_000, until: 3_000 });
    assert.deepEqual([claimed?.status, claimed?.startedAt, claimed?.total, claimed?.listCursor], ["queued", null, 3, "c1"]);
    const empty = await there.jobItemsAdd(page(job, { after: 3, node: "two", items: [], listCursor: "c2" }));
    assert.deepEqual([empty?.total, empty?.listCursor], [3, "c2"], "an empty page moves the cursor");
    const fixed = await there.jobItemsAdd(page(job, { after: 3, node: "two", items: [6], listCursor: null }));
    assert.deepEqual([fixed?.total, fixed?.listCursor, fixed?.status], [4, null, "queued"]);
    assert.deepEqual(await there.jobItems({ ...key(job), before: 4, limit: 5 }), [6]);
    assert.equal((await there.jobAdvance(step(job, { node: "two", worked: 1 })))?.status, "running");
  });

  test(`${engine.name}: a job that is cancelled while its items are fixed gets no more of them; one whose list was empty completes`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const job = await makeJob(scene, [2], "one");
    assert.equal((await store.jobEnd({ ...key(job), status: "cancelled", now: 5 }))?.total, 1);
    assert.equal(await store.jobItemsAdd(page(job, { after: 1, items: [1], listCursor: null })), null);
    assert.deepEqual(await store.jobItems({ ...key(job), before: 2, limit: 5 }), []);
    const empty = await makeJob(scene, [], "one");
    assert.equal(empty.status, "queued");
    const ended = await store.jobItemsAdd(page(empty, { after: 0, items: [], listCursor: null }));
    assert.deepEqual([ended?.status, ended?.endedAt], ["completed", 1_000]);
    assert.equal(await store.jobClaim({ ...MINE, now: 9_000 }), null);
  });

  test(`${engine.name}: jobs of one series follow one another; a page says why the list ended, and counts add up`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [one, two] = [await makeJob(scene, [1, 2], undefined, { series: "s" }), await makeJob(scene, [], "two", { series: "s" })];
    const series = { environmentId: one.environmentId, series: "s" };
    assert.equal(await store.jobClaim({ ...MINE, exceptKinds: ["x", "runs.rerun"] }), null);
    assert.equal((await store.jobClaim({ ...MINE, exceptKinds: ["x"] }))?.id, one.id);
    assert.equal(await store.jobClaim({ ...MINE, node: "two", now: 9_000 }).then((job) => job?.id), one.id, "the second waits");
    assert.equal(await store.jobClaim({ ...MINE, node: "two", now: 9_000, except: [one.id] }), null);
    await store.jobAdvance(step(one, { node: "two", worked: 1, tally: { seen: 1 } }));
    const ended = await store.jobAdvance(step(one, { node: "two", after: 1, worked: 1, tally: { seen: 2, recovered: 1 } }));
    assert.deepEqual([ended?.status, ended?.tally], ["completed", { seen: 3, recovered: 1 }]);
    assert.equal(await store.jobSeriesIsOpen(series), true);
    assert.equal((await store.jobClaim({ ...MINE, node: "two" }))?.id, two.id);
    const error = { item: null, message: "The provider did not answer." };
    const listed = await store.jobItemsAdd(page(two, { node: "two", error, staysOpen: true }));
    assert.deepEqual([listed?.status, listed?.errors, listed?.listCursor], ["queued", [error], null]);
    assert.equal((await store.jobAdvance(step(two, { node: "two" })))?.status, "completed");
    assert.equal(await store.jobSeriesIsOpen(series), false);
  });

  test(`${engine.name}: a job without items has completed`, async (t) => {
    const { store } = await engine.open(t);
    const job = await makeJob(await makeScene(store), []);
    assert.deepEqual([job.status, job.total], ["completed", 0]);
    assert.equal(await store.jobClaim(MINE), null);
  });

  test(`${engine.name}: a lease that is over can be taken over; one that is not cannot`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const job = await makeJob(scene, [1, 2]);
    const claimed = await store.jobClaim(MINE);
    assert.deepEqual([claimed?.status, claimed?.startedAt], ["running", 1_000]);
    assert.equal(await store.jobClaim({ ...MINE, except: [job.id] }), null, "this node works on it already");
    assert.equal((await store.jobClaim(MINE))?.id, job.id, "after a crash the same node goes on at once");
    assert.equal(await store.jobClaim({ ...MINE, node: "two", now: 1_999 }), null);
    assert.equal((await store.jobClaim({ ...MINE, node: "two", now: 2_000, until: 3_000 }))?.id, job.id);
    assert.equal(await store.jobAdvance(step(job, { worked: 1 })), null);
    assert.equal((await store.jobAdvance(step(job, { worked: 1, node: "two" })))?.done, 1);
  });

  test(`${engine.name}: a lease is renewed by its holder until the job has ended`, async (t) => {
    const { store } = await engine.open(t);
    const job = await makeJob(await makeScene(store), [1]);
    await store.jobClaim(MINE);
    assert.equal(await store.jobRenew({ ...key(job), node: "two", until: 9_000 }), false);
    assert.equal(await store.jobRenew({ ...key(job), node: "one", until: 5_000 }), true);
    assert.equal(await store.jobClaim({ ...MINE, node: "two", now: 4_999, until: 9_000 }), null);
    assert.equal((await store.jobClaim({ ...MINE, node: "two", now: 5_000, until: 9_000 }))?.id, job.id);
    assert.equal(await store.jobRenew({ ...key(job), node: "one", until: 9_000 }), false, "another node took it over");
    await store.jobEnd({ ...key(job), status: "cancelled", now: 6_000 });
    assert.equal(await store.jobRenew({ ...key(job), node: "two", until: 9_000 }), false, "it has ended");
  });

  test(`${engine.name}: a job with a step after its last item ends with that step, on whichever node`, async (t) => {
    const { store } = await engine.open(t);
    const job = await makeJob(await makeScene(store), [1]);
    await store.jobClaim(MINE);
    const worked = await store.jobAdvance(step(job, { worked: 1, staysOpen: true }));
    assert.deepEqual([worked?.status, worked?.done, worked?.endedAt], ["running", 1, null]);
    assert.deepEqual(await store.jobItems({ ...key(job), before: 1, limit: 10 }), []);
    assert.equal((await store.jobClaim({ ...MINE, node: "two", now: 2_000, until: 3_000 }))?.done, 1);
    const ended = await store.jobAdvance(step(job, { node: "two", now: 2_500, after: 1, worked: 0 }));
    assert.deepEqual([ended?.status, ended?.done, ended?.endedAt], ["completed", 1, 2_500]);
  });

  test(`${engine.name}: a job that was cancelled or failed goes no further`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const [one, two] = [await makeJob(scene, [1]), await makeJob(scene, [2])];
    await store.jobClaim(MINE);
    const cancelled = await store.jobEnd({ ...key(one), status: "cancelled", now: 5 });
    assert.deepEqual([cancelled?.status, cancelled?.endedAt], ["cancelled", 5]);
    assert.equal(await store.jobAdvance(step(one, { worked: 1 })), null);
    const failed = await store.jobEnd({ ...key(two), status: "failed", now: 6, error: { item: null, message: "why" } });
    assert.deepEqual([failed?.status, failed?.errors], ["failed", [{ item: null, message: "why" }]]);
    assert.equal((await store.jobEnd({ ...key(one), status: "failed", now: 9 }))?.status, "cancelled", "it stays as it ended");
    assert.equal(await store.jobEnd({ ...key(one), id: ids.next(1) as string as JobId, status: "failed", now: 9 }), null);
    assert.equal(await store.jobClaim(MINE), null);
  });

  test(`${engine.name}: jobs are listed newest first, by environment, and forgotten when they are old`, async (t) => {
    const { store } = await engine.open(t);
    const scene = await makeScene(store);
    const jobs: Job[] = [];
    for (let n = 0; n < 3; n++) jobs.push(await makeJob(scene, [n]));
    const list = (changes: object) => store.jobList({ environmentId: scene.environment.id, limit: 2, ...changes });
    const first = await list({});
    assert.deepEqual([first.jobs.map(({ id }) => id), first.next], [[jobs[2]?.id, jobs[1]?.id], jobs[1]?.id]);
    const second = await list({ after: first.next });
    assert.deepEqual([second.jobs.map(({ id }) => id), second.next], [[jobs[0]?.id], null]);
    await store.jobEnd({ ...key(jobs[1] as Job), status: "cancelled", now: 5 });
    assert.equal((await list({ status: "cancelled" })).jobs.length, 1);
    assert.equal(await store.jobExpireMany({ endedUntil: 5, scheduledUntil: 5, limit: 10 }), 1);
    assert.equal((await list({ limit: 10 })).jobs.length, 2);

    const own = await makeJob(scene, [3], undefined, { isScheduled: true });
    const listed = async (isScheduled?: boolean) => (await list({ limit: 10, isScheduled })).jobs.map(({ id }) => id);
    assert.deepEqual(
      [await listed(), await listed(false), await listed(true)],
      [[own.id, jobs[2]?.id, jobs[0]?.id], [jobs[2]?.id, jobs[0]?.id], [own.id]],
    );
    assert.deepEqual((await list({ limit: 1, isScheduled: false, after: jobs[2]?.id })).jobs[0]?.id, jobs[0]?.id);
    for (const job of [own, jobs[2] as Job]) await store.jobEnd({ ...key(job), status: "cancelled", now: 7 });
    assert.equal(
      await store.jobExpireMany({ endedUntil: 5, scheduledUntil: 7, limit: 10 }),
      1,
      "what came by itself is kept for less long",
    );
    assert.deepEqual(await listed(), [jobs[2]?.id, jobs[0]?.id]);
    assert.deepEqual(await store.jobItems({ ...key(jobs[0] as Job), before: 1, limit: 5 }), [0], "what is needed stays");
  });
}

async function sequenceOfOne(scene: Scene): Promise<number> {
  const { run } = await beginOne(scene);
  return (await detailsOf(scene, run.id)).eventSequence;
}

function key({ id, environmentId }: Job) {
  return { id, environmentId };
}

/** With `walkedBy`, more pages follow, which that node adds. */
async function makeJob(
  { store, environment }: { store: Store; environment: Scene["environment"] },
  items: readonly JobItem[],
  walkedBy?: string,
  { series = null, isScheduled = false }: { series?: string | null; isScheduled?: boolean } = {},
): Promise<Job> {
  const job: NewJob = {
    id: ids.next(1_000) as string as JobId,
    environmentId: environment.id,
    kind: "runs.rerun",
    filter: '{"status":"failed"}',
    functionId: "shop-ship",
    rate: 100,
    createdAt: 900,
    items,
    listCursor: walkedBy ? "c0" : null,
    lease: walkedBy ? { node: walkedBy, until: 2_000 } : null,
    series,
    isScheduled,
  };
  const stored = await store.jobInsert(job);
  assert.deepEqual(await store.jobGet(job), stored);
  const { items: _items, lease: _lease, ...facts } = job;
  assert.deepEqual({ ...stored, ...facts, total: items.length }, stored);
  return stored;
}

function page(job: Job, changes: Partial<JobItemsAddParams>): JobItemsAddParams {
  return { ...key(job), node: "one", now: 1_000, until: 2_000, after: 0, items: [], listCursor: null, ...changes };
}

function step(job: Job, changes: Partial<JobAdvanceParams>): JobAdvanceParams {
  return { ...key(job), node: "one", now: 1_000, until: 2_000, after: 0, worked: 0, failures: [], starts: [], ...changes };
}
