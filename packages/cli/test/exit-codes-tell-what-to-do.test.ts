/** A script can tell by the exit code whether trying again is worth it: 3 for a service that has no room right now, 4 for a wrong key. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

test("a service that slows down guessing: 4 while it refuses the key, 3 once it refuses to look at it", async (t) => {
  const { url, variables } = await startServer(t);
  const place = workingFolder(t, { ...variables, INLET_API_KEY: "ak_wrong" });
  assert.equal((await place.inlet(["events", "list"])).code, 4);
  const guess = async () => (await fetch(`${url}/v1/events`, { headers: { authorization: "Bearer ak_guess" } })).status;
  let guesses = 0;
  while ((await guess()) !== 429) assert.ok(guesses++ < 100, "guessing is slowed down");
  // Guessing goes on until the command has ended: time forgives, however long the command takes.
  let isOver = false;
  const guessing = (async () => {
    while (!isOver) await guess();
  })();
  const refused = await place.inlet(["events", "list"]);
  isOver = true;
  await guessing;
  assert.match(refused.stderr, /\(too_many_attempts\)/);
  assert.equal(refused.code, 3);
});

for (const [status, code] of [
  [400, 1],
  [401, 4],
  [403, 4],
  [404, 1],
  [429, 3],
  [500, 1],
  [502, 3],
  [503, 3],
  [504, 3],
] as const) {
  test(`a response of ${status} ends a command with ${code}`, async (t) => {
    const { url } = await answering(t, status);
    const place = workingFolder(t, { INLET_BASE_URL: url, INLET_API_KEY: "ak_test", INLET_EVENT_KEY: "evk_test" });
    assert.equal((await place.inlet(["runs", "list"])).code, code);
  });
}

test("output that cannot be written is an error", {
  skip: existsSync("/dev/full") ? false : "this system has no file that is always full",
}, () => {
  const [full, bin] = [openSync("/dev/full", "w"), fileURLToPath(new URL("../bin/inlet.js", import.meta.url))];
  const { status, stderr } = spawnSync(process.execPath, [bin, "version"], { stdio: ["ignore", full, "pipe"], encoding: "utf8" });
  assert.deepEqual([status, stderr], [1, "error: the output cannot be written: ENOSPC: no space left on device, write\n"]);
  // Nothing can be said of the wrong name, and its exit code stays.
  assert.equal(spawnSync(process.execPath, [bin, "nonsense"], { stdio: ["ignore", full, full] }).status, 2);
});

test("a reader of the output that stops early, as head does, changes no exit code", async (t) => {
  const bin = fileURLToPath(new URL("../bin/inlet.js", import.meta.url));
  for (const [input, expected] of [
    ["", 1],
    ['{"name":"a","data":{}}', 0],
  ] as const) {
    const { url } = await answering(t, 200, '{"ids":["01JCQ7V8Z0ABCDEFGHJKMNPQRS"],"status":200}');
    const child = spawn(process.execPath, [bin, "send", "-", "--url", url]);
    child.stdout.destroy();
    await once(child.stdout, "close");
    child.stdin.end(input);
    const [code] = await once(child, "exit");
    assert.equal(code, expected);
  }
});

const ENDED = { status: "completed", endedAt: "2026-01-31T12:00:00.000Z" };
const JOB = { id: "job", kind: "runs.rerun", total: 2, done: 1, failed: 0, errors: [], status: "running", endedAt: null };
const RUN = { id: "run", function: { id: "shop-ship" }, steps: [], error: null, status: "running", endedAt: null };

test("whoever watches a job waits for a service that restarts, and ends with the result of the job", async (t) => {
  const { url } = await restarting(t, JOB, { ...JOB, ...ENDED, done: 2 });
  const place = workingFolder(t, { INLET_BASE_URL: url });
  const { code, stdout, stderr } = await place.inlet(["jobs", "watch", "job", "--json"]);
  assert.deepEqual([code, JSON.parse(stdout).status], [0, "completed"]);
  assert.equal(stderr, "The service is stopping. (overloaded) The job continues there; waiting for it.\n");
});

test("whoever watches a run waits for a service that restarts, and ends with the result of the run", async (t) => {
  const failed = { ...RUN, ...ENDED, status: "failed", error: { name: "PaymentError", message: "refused" } };
  const { url } = await restarting(t, RUN, failed);
  const place = workingFolder(t, { INLET_BASE_URL: url });
  const { code, stdout, stderr } = await place.inlet(["runs", "watch", "run"]);
  assert.deepEqual([code, stdout], [1, "run  shop-ship\nfailed  PaymentError: refused\n"]);
  assert.equal(stderr, "The service is stopping. (overloaded) The run continues there; waiting for it.\n");
});

test("a service that cannot be asked at first, or refuses, ends the watch of a run", async (t) => {
  const place = workingFolder(t, { INLET_BASE_URL: (await answering(t, 503)).url });
  assert.equal((await place.inlet(["runs", "watch", "run"])).code, 3);
  const refusing = workingFolder(t, { INLET_BASE_URL: (await answering(t, 404)).url });
  assert.equal((await refusing.inlet(["runs", "watch", "run"])).code, 1);
});

/** Answers with the first state, then twice with none, as a service that stops and starts, then with the second. */
async function restarting(t: TestContext, before: object, after: object) {
  const answers: (object | null)[] = [before, null, null, after];
  const server = createServer((request, response) => {
    const answer = answers.shift();
    if (answer) response.setHeader("content-type", "application/json").end(JSON.stringify({ data: answer }));
    else if (answers.length === 2) response.writeHead(503).end('{"error":"The service is stopping.","code":"overloaded","status":503}');
    else request.socket.destroy();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Something in front of the service, which answers in its stead and not in its form. */
async function answering(t: TestContext, status: number, text = "no") {
  const server = createServer((_, response) => response.writeHead(status).end(text)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
