import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { checkCluster } from "../src/doctor/check-cluster.ts";
import { checkNode } from "../src/doctor/check-machine.ts";
import { checkClock } from "../src/doctor/check-service.ts";
import { startSmallApp } from "./support/small-app.ts";
import { startDev, startServer, type WorkingFolder, workingFolder } from "./support/working-folder.ts";

interface Report {
  code: number | null;
  ok: boolean;
  /** `check status` of each finding. */
  found: string[];
  text: string;
}

async function examine(place: WorkingFolder, ...argv: string[]): Promise<Report> {
  const { code, stdout, stderr } = await place.inlet(["doctor", "--json", ...argv]);
  assert.notEqual(stdout, "", stderr);
  const { ok, checks } = JSON.parse(stdout);
  const found = checks.map(({ check, status }: { check: string; status: string }) => `${check} ${status}`);
  for (const { status, advice } of checks) assert.equal(advice !== undefined, status === "warning" || status === "problem");
  return { code, ok, found, text: stdout };
}

async function otherServer(t: TestContext) {
  const server = createServer((_, response) => response.end("<html>")).listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("a service that is well, seen from its own machine", async (t, store) => {
  const { variables, url } = await startServer(t);
  const place = workingFolder(t, variables);
  const report = await examine(place, "--port", new URL(url).port);
  assert.deepEqual([report.code, report.ok], [0, true], report.text);
  // How soon PostgreSQL responds is up to the machine.
  const cluster = report.found.filter((line) => /^(store|lag|node \S+ )/.test(line)).map((line) => line.split(" ")[0]);
  assert.deepEqual(cluster, store === "sqlite" ? [] : ["store", "lag", "node"]);
  assert.deepEqual(
    report.found.filter((line) => !/^(disk|data folder|store|lag|node \S+ )/.test(line)),
    ["node ok", "settings ok", "port ok", "service ok", "clock ok", "API key ok", "event key ok", "apps skipped"],
  );
  assert.match(report.text, /an Inlet service is running on/);
  assert.ok(!report.text.includes(variables.INLET_API_KEY) && !report.text.includes(variables.INLET_EVENT_KEY), "no secrets");
  const people = await place.inlet(["doctor", "--port", "0"]);
  assert.match(people.stdout, /^ok {7}service: \S+ is running and ready$/m);
});

testOnce("wrong keys, an environment that does not exist, variables that are none", async (t) => {
  const { variables } = await startServer(t);
  const wrong = { ...variables, INLET_API_KEY: "ak_wrong", INLET_EVENT_KEY: "evk_wrong", INLET_PROT: "1", INLET_LOG_LEVEL: "loud" };
  const { code, found, text } = await examine(workingFolder(t, wrong), "--port", "0");
  assert.equal(code, 1);
  for (const line of ["settings warning", "settings problem", "API key problem", "event key problem"])
    assert.ok(found.includes(line), text);
  assert.match(text, /INLET_PROT is not a variable of Inlet/);
  assert.ok(!text.includes("ak_wrong") && !text.includes("evk_wrong"));
  const nowhere = await examine(workingFolder(t, variables), "--env", "nowhere", "--port", "0");
  assert.ok(nowhere.found.includes("API key problem") && nowhere.found.includes("event key problem"), nowhere.text);
  assert.match(nowhere.text, /inlet env list/);
});

testOnce("nothing there, something else there, a taken port", async (t) => {
  const place = workingFolder(t);
  const port = await otherServer(t);
  const other = await examine(place, "--url", `http://127.0.0.1:${port}`, "--port", String(port));
  assert.deepEqual([other.code, other.found.slice(-2)], [1, ["port problem", "service problem"]]);
  assert.match(other.text, /is not an Inlet service/);
  const gone = await examine(place, "--url", "http://127.0.0.1:9", "--port", "0");
  assert.match(gone.text, /cannot be reached[\s\S]*inlet start/);
  const shared = workingFolder(t, { INLET_DATABASE_URL: "postgres://db/inlet" });
  const { code, found } = await examine(shared, "--data", "--url", "http://127.0.0.1:9", "--port", "0");
  assert.deepEqual([code, found.filter((line) => /^(data|service) \w+$/.test(line))], [0, ["data skipped", "service skipped"]]);
});

testOnce("the data folder: in use, open to others, damaged, from a newer version", async (t) => {
  const place = workingFolder(t);
  const dataDir = join(place.folder, "data");
  const inlet = await startInlet(t, ["dev", "--port", "0", "--discover", "off", "--data-dir", dataDir]);
  const doctor = (folder: string) => examine(place, "--data-dir", folder, "--port", "0", "--url", inlet.url);
  const running = await doctor(dataDir);
  assert.equal(running.code, 0, running.text);
  assert.match(running.text, new RegExp(`in use by process ${inlet.child.pid}`));
  assert.match(running.text, /schema \d+, up to date/);
  chmodSync(dataDir, 0o755);
  assert.ok((await doctor(dataDir)).found.includes("data folder warning"));

  place.write("bad/inlet.db", "not a database ".repeat(100));
  assert.ok((await doctor(join(place.folder, "bad"))).found.includes("store problem"));
  place.write("file", "");
  assert.ok((await doctor(join(place.folder, "file"))).found.includes("data folder problem"));
  assert.ok((await doctor(join(place.folder, "none/yet"))).found.includes("data folder ok"));
  const newer = temporaryFolder(t);
  const db = new DatabaseSync(join(newer, "inlet.db"));
  db.exec("CREATE TABLE a (b); PRAGMA user_version = 999");
  db.close();
  assert.match((await doctor(newer)).text, /has schema 999, but this version supports up to \d+[\s\S]*newer version of Inlet/);
});

testOnce("apps: one that answers, and one that went away", async (t) => {
  const url = await startDev(t);
  const place = workingFolder(t, { INLET_BASE_URL: url });
  const app = await startSmallApp(t, url, { good: () => ({ status: 200, body: null }) });
  await place.inlet(["apps", "sync", app.url]);
  const up = await examine(place, "--port", "0");
  assert.ok(up.found.includes("app small ok"), up.text);
  assert.match(up.text, /answers; 1 function"/);
  assert.match(up.text, /no settings of the service are set by variables/, "INLET_BASE_URL is none of them");
  app.stop();
  const down = await examine(place, "--port", "0");
  assert.ok(down.found.includes("app small warning"), down.text);
  assert.match(down.text, /cannot be reached from here/);
});

testOnce("apps that still use a signing key of every environment are listed, with the command that makes their own", async (t) => {
  const old = `signkey-prod-${"0d".repeat(32)}`;
  const { url, rest, variables } = await startServer(t, ["--signing-key", old]);
  const [, own] = (await rest("POST", "/environments", { name: "payments" })).keys;
  await rest("POST", "/environments", { name: "pr-1", kind: "branch" });
  const register = (environment: string, appName: string, key: string) =>
    fetch(`${url}/fn/register`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "x-service-env": environment },
      body: JSON.stringify({ url: "http://127.0.0.1:1/api", appName, functions: [], v: "0.1", deployType: "ping", sdk: "js:v3" }),
    });
  const registered = [
    ["production", "shop", old],
    ["payments", "late", old],
    ["payments", "moved", own.key],
    ["pr-1", "preview", old],
  ] as const;
  for (const [environment, name, key] of registered) assert.equal((await register(environment, name, key)).status, 200, name);
  const place = workingFolder(t, variables);
  const { stdout } = await place.inlet(["doctor", "--port", "0"]);
  const listed = [...stdout.matchAll(/^\S+ +app (\S+) of (\S+): uses the signing key .*--kind signing --env (\S+?)"/gm)];
  assert.deepEqual(listed.map(([, ...words]) => words.join(" ")).sort(), [
    "late payments payments",
    "preview pr-1 branch",
    "shop production production",
  ]);
  assert.ok(!stdout.includes(old), "no secrets");
});

testOnce("clock and Node version", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  const at = (offsetMs: number) => checkClock(new Date(now + offsetMs).toUTCString(), now).status;
  assert.deepEqual([at(0), at(10_000), at(-90_000), checkClock(null).status], ["ok", "warning", "problem", "skipped"]);
  assert.match(checkClock(new Date(now - 90_000).toUTCString(), now).message, /90 s ahead of the service/);
  assert.deepEqual([checkNode("22.18.0").status, checkNode("22.19.0").status, checkNode("24.0.0").status], ["problem", "ok", "ok"]);
});

testOnce("databases: those of the installation, and one that is away", () => {
  const ready = (databases: object[]) => ({ store: { engine: "postgres", schema: 1, schemaKnown: 1, answerMs: 1 }, nodes: [], databases });
  const found = (databases: object[]) => checkCluster(ready(databases)).filter(({ check }) => check.startsWith("database"));
  const [directory, eu] = [
    { name: "directory", reachable: true },
    { name: "eu", reachable: false },
  ];
  assert.deepEqual(found([directory]), []);
  assert.deepEqual(
    found([directory, eu]).map(({ check, status }) => `${check}: ${status}`),
    ["database directory: ok", "database eu: problem"],
  );
});

testOnce("an archive that cannot be written is a warning", () => {
  const store = { engine: "postgres", schema: 1, schemaKnown: 1, answerMs: 1 };
  const found = (archive?: object) => checkCluster({ store, nodes: [], lagMs: 0, archive }).filter(({ check }) => check === "archive");
  assert.deepEqual(found(), []);
  assert.deepEqual(
    found({ failingSince: null }).map(({ status }) => status),
    ["ok"],
  );
  const [warned] = found({ failingSince: "2026-01-01T00:00:00.000Z" });
  assert.equal(warned?.status, "warning");
  assert.match(`${warned?.message} ${warned?.advice}`, /cannot be written since 2026-01-01.* --archive/);
});
