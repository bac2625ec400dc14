/** `inlet apps check`: a new build is asked for the plan of unfinished runs, and runs no step. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { until } from "../../server/test/support/runs.ts";
import { asDeployed, checkBuilds, inlet, listen, published, RUNS, sleepingRuns } from "./support/checked-build.ts";
import { runHere } from "./support/run-here.ts";
import { timeLimits } from "./support/time-limits.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { API_KEY, EVENT_KEY, startDev, startServer, workingFolder } from "./support/working-folder.ts";

const SIGNING_KEY = `signkey-test-${"0c".repeat(32)}`;

test("our SDK: a renamed step is a line for each run that waits in it, and no step runs", (t) => checkBuilds(t, inlet));

testOnce("SDK v4: a renamed step is a line for each run that waits in it, and no step runs", (t) => checkBuilds(t, published("inngest")));

testOnce("a build of an SDK that may run code is not asked; one that is not there, or wants a key, is an error", async (t) => {
  const { url, rest } = await startServer(t, ["--signing-key", SIGNING_KEY]);
  const variables = { INLET_BASE_URL: url, INLET_API_KEY: API_KEY, INLET_EVENT_KEY: EVENT_KEY };
  const place = workingFolder(t, variables);
  await sleepingRuns(t, place, await inlet(url, asDeployed, SIGNING_KEY));
  const build = await listen(t, await inlet(url, asDeployed, SIGNING_KEY));
  const signed = await place.inlet(["apps", "check", build, "--signing-key", SIGNING_KEY]);
  assert.equal(signed.code, 0, signed.stderr + signed.stdout);
  const unsigned = await place.inlet(["apps", "check", build]);
  assert.deepEqual([unsigned.code, /--signing-key/.test(unsigned.stderr)], [1, true], unsigned.stdout);

  let calls = 0;
  const python = await listen(t, (request, response) => {
    if (request.method !== "GET") calls++;
    response.writeHead(200, { "x-inngest-sdk": "inngest-py:v0.5.0", "content-type": "application/json" }).end("{}");
  });
  const refused = await place.inlet(["apps", "check", python]);
  assert.deepEqual([refused.code, calls], [2, 0]);
  assert.match(refused.stdout, /^inngest-py:v0\.5\.0 cannot be asked for its steps without running code.* Nothing was asked\.$/m);
  const page = await listen(t, (_, response) => response.end("hello"));
  const other = await place.inlet(["apps", "check", page]);
  assert.deepEqual([other.code, /is not the endpoint of an SDK/.test(other.stderr)], [1, true]);
  assert.equal((await rest("GET", "/runs?status=sleeping")).length, RUNS);
});

testOnce("an app that the service does not know: an error if --app names it, nothing to check if the build does", async (t) => {
  const url = await startDev(t);
  const place = workingFolder(t, { INLET_BASE_URL: url });
  const build = await listen(t, await inlet(url, asDeployed));
  const first = await place.inlet(["apps", "check", build]);
  assert.deepEqual([first.code, first.stdout], [0, "The service does not know the app check yet: nothing was checked.\n"], first.stderr);
  const none = await place.inlet(["apps", "check", build, "--app", "check"]);
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.equal(none.stderr, 'error: The environment has no app "check"; it has: none. Check --app and --env.\n');

  assert.equal((await place.inlet(["apps", "sync", build])).code, 0);
  const idle = await place.inlet(["apps", "check", build, "--app", "check"]);
  assert.deepEqual([idle.code, idle.stdout], [0, "No unfinished run of check has reached a step: nothing to check.\n"], idle.stderr);
  const wrong = await place.inlet(["apps", "check", build, "--app", "typo"]);
  assert.equal(wrong.code, 1);
  assert.equal(wrong.stderr, 'error: The environment has no app "typo"; it has: check. Check --app and --env.\n');
});

testOnce("a service that does not return the state of a run in time is an error", async (t) => {
  const { url } = await startServer(t, ["--signing-key", SIGNING_KEY]);
  const variables = { INLET_BASE_URL: url, INLET_API_KEY: API_KEY, INLET_EVENT_KEY: EVENT_KEY };
  const place = workingFolder(t, variables);
  await sleepingRuns(t, place, await inlet(url, asDeployed, SIGNING_KEY));
  const build = await listen(t, await inlet(url, asDeployed, SIGNING_KEY));
  const proxy = await unsteadyProxy(t, url);
  const states = proxy.hold(/\/v0\/runs\//);
  const limits = timeLimits(t);
  const checking = runHere(place.folder, ["apps", "check", build, "--signing-key", SIGNING_KEY], {
    ...variables,
    INLET_BASE_URL: proxy.url,
  });
  await until("the request", () => (states.waiting() > 0 ? true : undefined));
  limits.pass(30_000);
  const { code, stderr } = await checking;
  assert.deepEqual([code, stderr], [1, `error: The service at ${proxy.url} gave no response within 30 s. Retry later.\n`]);
});
