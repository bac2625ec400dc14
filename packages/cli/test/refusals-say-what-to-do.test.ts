import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

async function setUp(t: TestContext) {
  const server = await startServer(t);
  const place = workingFolder(t, server.variables);
  await place.webhooks("new", "--from", "stripe");
  return { ...server, place };
}

test("a wrong key, no key, an environment that does not exist: the service's own sentence and code", async (t) => {
  const { place, url } = await setUp(t);
  const wrong = await place.webhooks("plan", "--api-key", "ak_wrong");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^error: This API key is unknown or was revoked\. \(api_key_invalid\)$/m);
  assert.match(wrong.stderr, /--api-key or INLET_API_KEY/);
  assert.ok(wrong.stderr.includes(`See ${url}/docs/errors/api_key_invalid\n`), "the page that explains the code");
  assert.ok(!wrong.stderr.includes("ak_wrong"), "a secret is not repeated");

  const bare = workingFolder(t, { INLET_BASE_URL: url });
  assert.match((await bare.webhooks("pull")).stderr, /\(api_key_missing\)$/m);

  const nowhere = await place.json("plan", "--env", "nowhere");
  assert.deepEqual([nowhere.code, nowhere.body.code], [1, "environment_not_found"]);
});

test("a key that may only read can plan, and is told why it cannot apply", async (t) => {
  const { place, rest } = await setUp(t);
  const { key } = await rest("POST", "/keys", { kind: "api", name: "ci", role: "read" });
  assert.equal((await place.webhooks("plan", "--api-key", key)).code, 2);
  const { code, body } = await place.json("apply", "--api-key", key);
  assert.deepEqual([code, body.failure.code], [1, "role_forbidden"]);
});

test("a server that is not there, or is something else", async (t) => {
  const place = workingFolder(t);
  await place.webhooks("new", "--from", "stripe");
  const other = createServer((_, response) => response.end("<html>")).listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const page = await place.webhooks("plan", "--url", url);
  assert.equal(page.code, 1);
  const SAYS = /did not return what an Inlet service returns\. Check the URL, which is set with --url or INLET_BASE_URL\.$/m;
  assert.match(page.stderr, SAYS);

  await new Promise((resolve) => other.close(resolve));
  const gone = await place.webhooks("plan", "--url", url);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /cannot be reached: connection refused\. Start it, or set its URL with --url or INLET_BASE_URL\./);
});

test("a program that answers in JSON, but not as Inlet does, is not taken for it, and is asked once", async (t) => {
  let [asked, body] = [0, ""];
  const other = createServer((_, response) => {
    asked++;
    response.setHeader("content-type", "application/json").end(body);
  }).listen(0, "127.0.0.1");
  onEnd(t, () => {
    other.closeAllConnections();
    other.close();
  });
  await once(other, "listening");
  const place = workingFolder(t, { INLET_BASE_URL: `http://127.0.0.1:${(other.address() as AddressInfo).port}` });
  for (const [argv, response] of [
    ["runs list", '{"data":[],"metadata":{}}'],
    ["env list", '{"data":[null],"page":{}}'],
    ["events list", "{}"],
    ["runs get x", '{"data":null}'],
    ["keys revoke x", "[]"],
    ["events tail", "{}"],
  ] as const) {
    [asked, body] = [0, response];
    const { code, stderr } = await place.inlet(argv.split(" "));
    assert.match(stderr, /^error: http:\S+ did not return what an Inlet service returns\. [^\n]*\n$/, argv);
    assert.deepEqual([code, asked], [1, 1], argv);
  }
});

test("a command that does not exist is one error, and how to list those that do", async (t) => {
  const place = workingFolder(t);
  const wrong = await place.inlet(["sned"]);
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
  assert.equal(wrong.stderr, 'error: there is no command "sned"; did you mean "send"?\n"inlet --help" lists the commands.\n');
  const inGroup = await place.inlet(["events", "bogus"]);
  assert.equal(inGroup.stderr, 'error: there is no command "bogus" of inlet events\n"inlet events --help" lists the commands.\n');
});

test("with --json, an error of usage is on standard output, too, with a code", async (t) => {
  const place = workingFolder(t);
  for (const [argv, code] of [
    [["bogus"], 2],
    [["events", "bogus"], 2],
    [["backup"], 2],
    [["migrate-store"], 2],
    [["plan", "--bogus"], 1],
    [["webhooks", "test", "--bogus"], 1],
    [["start", "--bogus"], 2],
    [["plan", "--dir", "none"], 1],
    [["webhooks", "test", "--dir", "none"], 1],
  ] as const) {
    const { code: exitCode, stdout, stderr } = await place.inlet([...argv, "--json"]);
    assert.deepEqual([exitCode, JSON.parse(stdout).code], [code, "usage"], `${argv.join(" ")}: ${stdout}`);
    assert.ok(stderr.startsWith(`error: ${JSON.parse(stdout).error.split("\n")[0]}`), stderr);
  }
});

test("every error of every command begins with the same prefix, on standard error", async (t) => {
  const place = workingFolder(t, { INLET_BASE_URL: "http://127.0.0.1:1", INLET_API_KEY: "ak_test" });
  const cases: [string[], number, RegExp][] = [
    [["evnts"], 2, /there is no command "evnts"; did you mean "events"\?/],
    [["webhooks", "push"], 1, /there is no command "push" of inlet webhooks/],
    [["runs", "list", "--satus", "failed"], 2, /--satus/],
    [["send", "--name", "a", "--data", "{"], 2, /--data is not a JSON object/],
    [["send", "missing.json"], 1, /missing\.json/],
    [["jobs", "list"], 3, /cannot be reached/],
    [["runs", "rerun"], 2, /<run id> is missing/],
    [["dev", "--ephemeral", "--data-dir", "x"], 2, /not both/],
    [["start", "--port", "70000", "--body-limit"], 2, /--port must be a whole number/],
  ];
  const ended = await Promise.all(cases.map(([argv]) => place.inlet(argv)));
  for (const [i, [argv, code, message]] of cases.entries()) {
    const { stderr, stdout, code: exitCode } = ended[i] as (typeof ended)[number];
    assert.match(stderr, message, argv.join(" "));
    assert.match(stderr, /^error: /, argv.join(" "));
    assert.deepEqual([exitCode, stdout], [code, ""], argv.join(" "));
  }
  assert.equal(ended.at(-1)?.stderr.match(/^error: /gm)?.length, 2, "each fault of the settings is an error");
});
