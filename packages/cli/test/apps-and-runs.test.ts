import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { until } from "../../server/test/support/runs.ts";
import { runOf } from "./support/run-of.ts";
import { startSmallApp } from "./support/small-app.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { startDev, workingFolder } from "./support/working-folder.ts";

const SLEEP = { id: "a".repeat(40), op: "Sleep", name: "1h", displayName: "nap", opts: {} };

async function setUp(t: TestContext) {
  const url = await startDev(t);
  const app = await startSmallApp(t, url, {
    good: () => ({ status: 200, body: { total: 42 } }),
    bad: () => ({ status: 500, body: { name: "PaymentError", message: "the card\nwas refused" } }),
    slow: () => ({ status: 206, body: [SLEEP] }),
  });
  return { url, app, place: workingFolder(t, { INLET_BASE_URL: url }) };
}

async function decidesApprovals(url: string, place: ReturnType<typeof workingFolder>): Promise<void> {
  const body = JSON.stringify({ signal: "ship", prompt: "Ship\nit?", timeout: "1h" });
  const asked = await fetch(`${url}/v1/approvals`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { id } = ((await asked.json()) as { data: { id: string } }).data;
  const list = (...flags: string[]) => place.inlet(["approvals", "list", ...flags]);
  assert.match((await list("--status", "open")).stdout, new RegExp(`^${id} +open +\\S+Z +ship +- +Ship it\\?$`, "m"));
  assert.equal((await place.inlet(["approvals", "decide", id, "maybe"])).code, 2);
  const decided = await place.inlet(["approvals", "decide", id, "approved", "--comment", "yes"]);
  assert.deepEqual([decided.code, decided.stdout], [0, `${id} is approved.\n`]);
  const again = await place.inlet(["approvals", "decide", id, "rejected"]);
  assert.deepEqual([again.code, /approval_ended/.test(again.stderr)], [1, true]);
  assert.equal((await list("--status", "open")).stdout, "No approvals.\n");
  assert.match((await list()).stdout, /approved +\S+Z +ship +dev server +Ship it\?/);
}

test("an app is synced, listed with its functions, and removed", async (t) => {
  const { app, place } = await setUp(t);
  const synced = await place.inlet(["apps", "sync", app.url]);
  assert.deepEqual([synced.code, synced.stdout], [0, `Synced small: 3 functions at ${app.url}.\n`]);
  assert.match((await place.inlet(["apps", "list"])).stdout, new RegExp(`^\\S+ +small +3 +js:v3\\.0\\.0 +\\S+Z +${app.url}$`, "m"));
  assert.match((await place.inlet(["functions", "list"])).stdout, /^small-good +good +small +0 +active +app\/good$/m);
  assert.equal((await place.inlet(["apps", "remove", "small"])).code, 0);
  assert.equal((await place.inlet(["apps", "list"])).stdout, "No apps.\n");
  assert.equal(
    (await place.inlet(["functions", "list", "--json"])).stdout,
    `${JSON.stringify({ data: [], page: { next: null } }, null, 2)}\n`,
  );
  const gone = await place.inlet(["apps", "remove", "small"]);
  assert.deepEqual([gone.code, /app_not_found/.test(gone.stderr)], [1, true]);
  const nobody = await place.inlet(["apps", "sync", "http://127.0.0.1:9/api"]);
  assert.deepEqual([nobody.code, /app_unreachable/.test(nobody.stderr)], [1, true]);
});

test("runs are listed, shown, watched to their end, cancelled and run again", async (t) => {
  const { url, app, place } = await setUp(t);
  await decidesApprovals(url, place);
  await place.inlet(["apps", "sync", app.url]);
  await place.inlet(["send"], ["good", "bad", "slow"].map((id) => JSON.stringify({ name: `app/${id}`, data: {} })).join("\n"));

  const good = await runOf(place, "small-good", "completed");
  assert.match(
    (await place.inlet(["runs", "list", "--status", "completed"])).stdout,
    new RegExp(`${good} +completed +small-good +app/good +[\\d.]+ m?s`),
  );
  const shown = await place.inlet(["runs", "get", good]);
  assert.match(shown.stdout, /^status +completed$/m);
  assert.match(shown.stdout, /^output +\{"total":42\}$/m);
  assert.deepEqual(JSON.parse((await place.inlet(["runs", "get", good, "--json"])).stdout).output, { total: 42 });
  assert.equal((await place.inlet(["runs", "watch", good])).code, 0);

  const bad = await runOf(place, "small-bad", "failed");
  assert.match((await place.inlet(["runs", "list", "--status", "failed"])).stdout, / ERROR\n.*the card was refused/);
  const names = async (...flags: string[]) => (await place.inlet(["events", "list", ...flags])).stdout;
  const isTold = async (...flags: string[]) => /function\.failed/.test(await names(...flags));
  assert.deepEqual([await isTold(), await isTold("--no-internal")], [true, false]);
  const watched = await place.inlet(["runs", "watch", bad]);
  assert.equal(watched.code, 1);
  assert.match(watched.stdout, /^failed {2}PaymentError: the card\\x0awas refused$/m);
  const failed = (await place.inlet(["runs", "get", bad])).stdout;
  const told = /^calls +[\d:.]{12} {2}the function {2}status 500 {2}\d+ ms {2}PaymentError: the card\\x0awas refused$/m;
  assert.match(failed, told);
  assert.match(failed, /^ +POST \/\S*fnId=small-bad\S*$/m);
  assert.match(failed, /^ +returned \{"name":"PaymentError",.*\}$/m);
  const [call] = JSON.parse((await place.inlet(["runs", "get", bad, "--json"])).stdout).calls;
  assert.deepEqual([call.request.method, call.httpStatus, call.outcome], ["POST", 500, "error"]);
  assert.match(call.answer.body, /PaymentError/);

  const slow = await runOf(place, "small-slow", "sleeping");
  const watching = place.start("runs", "watch", slow);
  await watching.printed(/nap {2}sleep {2}sleeping {2}until \S+Z/);
  assert.match((await place.inlet(["runs", "cancel", slow])).stdout, new RegExp(`^Cancelled ${slow} of small-slow\\.$`, "m"));
  assert.equal(await watching.ended(), 1);
  assert.match(watching.stdout(), /^cancelled\b/m);
  const again = await place.inlet(["runs", "cancel", slow]);
  assert.deepEqual([again.code, /run_ended/.test(again.stderr)], [1, true]);

  const rerun = JSON.parse((await place.inlet(["runs", "rerun", good, "--json"])).stdout);
  assert.equal(rerun.originalRunId, good);
  assert.equal((await place.inlet(["runs", "watch", rerun.id])).code, 0);
  const unsure = await place.inlet(["runs", "rerun", "--function", "small-good"]);
  assert.deepEqual([unsure.code, /^error: Rerun 2 runs\?.*--yes/.test(unsure.stderr)], [2, true], unsure.stderr);
  const dry = await place.inlet(["runs", "rerun", "--function", "small-good", "--dry-run"]);
  assert.match(dry.stdout, new RegExp(`^2 match:\n  \\S{26}  small-good  .*\n  ${good}  small-good  .*\nNothing was done\\.$`, "m"));
  assert.equal((await place.inlet(["runs", "rerun", good, "--dry-run"])).code, 2, "a single run is not rerun by it");
  const bulk = await place.inlet(["runs", "rerun", "--function", "small-good", "--yes", "--json"]);
  assert.equal(bulk.code, 0, bulk.stderr);
  const job = JSON.parse(bulk.stdout);
  assert.deepEqual([job.status, job.total, job.done], ["completed", 2, 2]);
  assert.match((await place.inlet(["jobs", "list"])).stdout, new RegExp(`${job.id} +runs.rerun +completed +2/2`));
  assert.match((await place.inlet(["jobs", "get", job.id])).stdout, /2 of 2 done, 0 failed/);
  assert.equal((await place.inlet(["jobs", "watch", job.id])).code, 0);
  assert.deepEqual([(await place.inlet(["jobs", "cancel", job.id])).code], [1], "it has ended");
  assert.equal((await place.inlet(["runs", "list", "--job", job.id, "--json"])).stdout.match(/"originalRunId"/g)?.length, 2);
  assert.match((await place.inlet(["runs", "rerun", "--where", "data.n > 99", "--yes"])).stdout, /Nothing matches/);
  assert.equal((await place.inlet(["runs", "rerun"])).code, 2);
  const limit = (...flags: string[]) => place.inlet(["functions", "limit", "small-good", ...flags]);
  assert.match((await limit("--concurrency", "5", "--throttle", "10/1m")).stdout, /^small-good: 5 at a time, throttled to 10 in 1m\.$/m);
  assert.match((await limit("--concurrency", "none", "--throttle", "none")).stdout, /limited as its app registered it/);
  for (const flags of [[], ["--throttle", "often"], ["--concurrency", "many"]]) assert.notEqual((await limit(...flags)).code, 0);
  assert.match((await place.inlet(["functions", "pause", "small-good"])).stdout, /^Paused small-good/);
  assert.match((await place.inlet(["functions", "list"])).stdout, /^small-good .* paused, 0 waiting +app\/good$/m);
  assert.match((await place.inlet(["functions", "resume", "small-good", "--held", "cancel"])).stdout, /^Resumed small-good/);
  assert.match((await place.inlet(["runs", "rrun"])).stderr, /did you mean "rerun"\?/);
  assert.match((await place.inlet(["runs", "list", "--satus", "failed"])).stderr, /did you mean "--status"\?/);
  assert.match((await place.inlet(["version"])).stdout, /^inlet \d+\.\d+/);
  const missing = await place.inlet(["runs", "get", "01JCQ7V8Z0ABCDEFGHJKMNPQRS"]);
  assert.deepEqual([missing.code, /run_not_found/.test(missing.stderr)], [1, true]);
});

test("every change of every run, or of one function, as lines for people and for scripts", async (t) => {
  const { app, place, url } = await setUp(t);
  await place.inlet(["apps", "sync", app.url]);
  const [people, scripts] = [place.start("runs", "watch"), place.start("runs", "watch", "--function", "small-bad", "--json")];
  await Promise.all([people.printed(/Following runs/), scripts.printed(/Following runs/)]);
  const events = ["good", "bad"].map((id) => ({ name: `app/${id}`, data: {} }));
  await fetch(`${url}/e/dev`, { method: "POST", body: JSON.stringify(events) });
  await people.printed(/^\d\d:\d\d:\d\d\.\d{3} {2}\S{26} {2}completed {2}small-good {2}app\/good$/m);
  await people.printed(/ {2}failed {2}small-bad {2}/);
  await scripts.printed(/"status":"failed"/);
  assert.deepEqual([await people.end("SIGINT"), await scripts.end("SIGTERM")], [0, 0]);
  const seen = scripts
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).function.id);
  assert.deepEqual(new Set(seen), new Set(["small-bad"]));
});

test("runs that changed during a disconnect are told once it is over: new ones, and those that were under way before", async (t) => {
  const { app, place, url } = await setUp(t);
  await place.inlet(["apps", "sync", app.url]);
  const send = (id: string) => fetch(`${url}/e/dev`, { method: "POST", body: JSON.stringify({ name: `app/${id}`, data: {} }) });
  await send("slow");
  const slow = await runOf(place, "small-slow", "sleeping");
  await send("slow");
  await runOf(place, "small-slow", "sleeping");
  const wire = await unsteadyProxy(t, url);
  const watching = place.start("runs", "watch", "--url", wire.url);
  await watching.printed(/Following runs/);
  await send("good");
  const first = await runOf(place, "small-good", "completed");
  await watching.printed(new RegExp(`${first} {2}completed`));

  wire.next = Array.from({ length: 1_000 }, () => "turned away");
  const lists = wire.hold(/\/v1\/runs\?/);
  wire.cut();
  await watching.printed(/Disconnected/);
  await send("good");
  await place.inlet(["runs", "cancel", slow]);
  const second = await runOf(place, "small-good", "completed");
  wire.next = [];
  // What ends while the lists are read is in them, and in the stream that is open already.
  await until("the lists", () => (lists.waiting() > 0 ? true : undefined));
  await send("good");
  const between = await runOf(place, "small-good", "completed");
  // The first reading of the lists fails.
  wire.next = ["bad gateway"];
  lists.letGo();
  for (const end of [`${second}  completed`, `${between}  completed`, `${slow}  cancelled`]) await watching.printed(new RegExp(end));
  await send("good");
  const third = await runOf(place, "small-good", "completed");
  await watching.printed(new RegExp(`${third} {2}completed`));
  await watching.end();
  const ends = watching.stdout().match(/\S{26} {2}(completed|cancelled)/g);
  const good = [first, second, between, third].map((id) => `${id}  completed`);
  assert.deepEqual(new Set(ends), new Set([...good, `${slow}  cancelled`]));
  assert.equal(ends?.length, 5, `each once: ${watching.stdout()}`);
});

test("keys on hold are listed, and released by the id of the run or of the hold", async (t) => {
  const url = await startDev(t);
  const app = await startSmallApp(t, url, { ordered: () => ({ status: 500, body: { name: "E", message: "no" } }) });
  const place = workingFolder(t, { INLET_BASE_URL: url });
  await place.inlet(["apps", "sync", app.url]);
  const released: string[] = [];
  for (const key of ["a", "b"]) {
    await place.inlet(["send"], JSON.stringify({ name: "app/ordered", data: { key } }));
    const run = await runOf(place, "small-ordered", "failed");
    const listed = await place.inlet(["runs", "holds"]);
    const [, holdId] = new RegExp(`^(\\d+) +\\S+Z +small-ordered +"${key}" +${run} +0$`, "m").exec(listed.stdout) ?? [];
    assert.ok(holdId, listed.stdout);
    released.push((await place.inlet(["runs", "release", key === "a" ? run : holdId])).stdout);
  }
  assert.deepEqual(released, ['Released the key "a".\n', 'Released the key "b".\n']);
  assert.equal((await place.inlet(["runs", "holds"])).stdout, "No keys are on hold.\n");
  const gone = await place.inlet(["runs", "release", "4711"]);
  assert.deepEqual([gone.code, /hold_not_found/.test(gone.stderr)], [1, true]);
});
