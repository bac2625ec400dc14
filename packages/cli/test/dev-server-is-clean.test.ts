import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { startSmallApp } from "./support/small-app.ts";
import { type Running, startDev, workingFolder } from "./support/working-folder.ts";

async function urlOf(dev: Running): Promise<string> {
  return (await dev.printed(/^listening on (\S+)$/m))[1] ?? "";
}

const post = (url: string, body: string, headers: Record<string, string> = {}) => fetch(url, { method: "POST", body, headers });

test("--ephemeral leaves nothing behind", async (t) => {
  const temporary = temporaryFolder(t);
  const place = workingFolder(t, { TMPDIR: temporary });
  const dev = place.start("dev", "--port", "0", "--discover", "off", "--ephemeral");
  const url = await urlOf(dev);
  assert.equal((await post(`${url}/e/dev`, '{"name":"a/b","data":{}}')).status, 200);
  const whileItRuns = readdirSync(temporary);
  assert.equal(whileItRuns.filter((folder) => folder.startsWith("inlet-dev-")).length, 1);
  assert.equal(await dev.end("SIGINT"), 0);
  // Node keeps its compile cache there, unless a variable names another folder.
  const left = readdirSync(temporary).filter((name) => name !== "node-compile-cache");
  assert.deepEqual([left, place.exists(".inlet")], [[], false]);
});

test("--ephemeral and --data-dir contradict each other", async (t) => {
  const { code, stderr } = await workingFolder(t).inlet(["dev", "--ephemeral", "--data-dir", "x"]);
  assert.deepEqual([code, /not both/.test(stderr)], [2, true]);
});

test("INLET_EPHEMERAL with another value than true and false is refused: the data would be kept", async (t) => {
  const { code, stderr } = await workingFolder(t, { INLET_EPHEMERAL: "1" }).inlet(["dev", "--port", "0", "--discover", "off"]);
  assert.deepEqual([code, stderr], [2, 'error: INLET_EPHEMERAL must be true or false, not "1".\n']);
});

test("it keeps its data in .inlet", async (t) => {
  const place = workingFolder(t);
  const dev = place.start("dev", "--port", "0", "--discover", "off");
  await dev.printed(/listening on/);
  await dev.end("SIGTERM");
  assert.ok(place.exists(".inlet/inlet.db"));
});

test("the terminal shows events, duplicates, refusals and ends of runs, line by line", async (t) => {
  const place = workingFolder(t);
  const dev = place.start("dev", "--port", "0", "--discover", "off", "--ephemeral");
  const url = await urlOf(dev);
  const event = '{"name":"app/good","id":"o-1","data":{}}';
  await post(`${url}/e/dev`, event);
  await post(`${url}/e/dev`, event);
  await post(`${url}/e/dev`, "nonsense");
  await dev.printed(/^\d\d:\d\d:\d\d\.\d{3} {2}event {6}\S{26} {2}app\/good$/m);
  await dev.printed(/^\S+ {2}duplicate {2}\S{26} {2}app\/good$/m);
  await dev.printed(/^\S+ {2}refused {4}400 body_invalid {2}/m);
  const app = await startSmallApp(t, url, { good: () => ({ status: 200, body: null }) });
  await place.inlet(["apps", "sync", app.url, "--url", url]);
  await post(`${url}/e/dev`, '{"name":"app/good","data":{}}');
  await dev.printed(/^\S+ {2}completed {2}\S{26} {2}small-good$/m);
  assert.equal(dev.stderr(), "", "and no log line for machines");
});

test("a dashboard on another origin that --allow-origin names may send an event to it", async (t) => {
  const origin = "https://inlet.example.com";
  const url = await startDev(t, ["--allow-origin", origin]);
  const preflight = await fetch(`${url}/e/dev`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type,x-inngest-event-id-seed" },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
  assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /content-type/);
  for (const [body, status] of [
    ['{"name":"a/b","data":{}}', 200],
    ["{}", 400],
  ] as const) {
    const sent = await post(`${url}/e/dev`, body, { origin, "content-type": "application/json" });
    assert.deepEqual([sent.status, sent.headers.get("access-control-allow-origin")], [status, "*"], "a page may read errors, too");
  }
});

test("the terminal shows lines that a person reads; --log json shows the rest", async (t) => {
  const argv = ["dev", "--port", "0", "--ephemeral", "--discover", "off", "--app-url", "http://127.0.0.1:9/api/inlet"];
  const dev = workingFolder(t).start(...argv);
  const url = await urlOf(dev);
  await dev.printed(/warning +an app could not be synced: url http:\/\/127\.0\.0\.1:9\/api\/inlet, fault /);
  const app = await startSmallApp(t, url, { good: () => ({ status: 200, body: null }) });
  await fetch(`${url}/v1/apps`, {
    method: "POST",
    body: JSON.stringify({ url: app.url }),
    headers: { "content-type": "application/json" },
  });
  await dev.printed(/ app +\S+ +registered its functions, served at http/);
  assert.equal(await dev.end("SIGINT"), 0);
  assert.doesNotMatch(dev.stdout() + dev.stderr(), /^\{/m);

  const json = workingFolder(t).start(...argv, "--log", "json");
  await json.printed(/^\{"level":40.*"msg":"an app could not be synced"\}$/m);
  assert.equal(await json.end("SIGINT"), 0);
});
