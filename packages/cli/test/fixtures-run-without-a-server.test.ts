import assert from "node:assert/strict";
import { test } from "node:test";
import { workingFolder } from "./support/working-folder.ts";

/** Nothing listens there: whoever asks the server fails. */
const NO_SERVER = { INLET_BASE_URL: "http://127.0.0.1:1" };

test("a webhook started from a provider passes its fixtures at once", async (t) => {
  const place = workingFolder(t, NO_SERVER);
  const made = await place.webhooks("new", "--from", "stripe");
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /webhooks\/stripe\/transform\.js/);
  assert.deepEqual(JSON.parse(place.read("webhooks/stripe/webhook.json")), { name: "Stripe", eventNames: null, ips: null, enabled: true });
  const tested = await place.webhooks("test");
  assert.equal(tested.code, 0, tested.stdout);
  assert.match(tested.stdout, /passed an invoice was paid[\s\S]*Fixtures: 2 passed, 0 failed\./);
});

test("the next steps name the folder, unless it is the default", async (t) => {
  const place = workingFolder(t, NO_SERVER);
  assert.match((await place.webhooks("new", "--from", "stripe")).stdout, /"inlet webhooks test" .* "inlet webhooks apply" /);
  const made = await place.webhooks("new", "--from", "stripe", "--dir", "w1");
  assert.match(made.stdout, /"inlet webhooks test --dir w1" .* "inlet webhooks apply --dir w1" /);
  assert.equal((await place.webhooks("test", "--dir", "w1")).code, 0);
  const spaced = await place.webhooks("new", "--from", "stripe", "--dir", "my webhooks");
  assert.match(spaced.stdout, /"inlet webhooks test --dir 'my webhooks'"/);
});

test("new overwrites nothing", async (t) => {
  const place = workingFolder(t);
  await place.webhooks("new", "Pay ment!", "--from", "stripe", "--env", "staging");
  assert.equal(JSON.parse(place.read("webhooks/pay-ment/webhook.json")).environment, "staging");
  const before = place.read("webhooks/pay-ment/transform.js");
  const again = await place.webhooks("new", "Pay Ment", "--from", "github");
  assert.deepEqual([again.code, again.stdout], [1, ""]);
  assert.match(again.stderr, /webhooks\/pay-ment already exists/);
  assert.equal(place.read("webhooks/pay-ment/transform.js"), before);
});

test("new lists the providers, and knows no others", async (t) => {
  const place = workingFolder(t);
  const { body } = await place.json("new", "--list");
  assert.ok(body.providers.some(({ id }: { id: string }) => id === "stripe"));
  const unknown = await place.webhooks("new", "x", "--from", "nobody");
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /Unknown provider "nobody"\. Providers: stripe, /);
  assert.equal(place.exists("webhooks"), false);
});

test("a fixture that fails shows what is different, in text and as JSON", async (t) => {
  const place = workingFolder(t, NO_SERVER);
  await place.webhooks("new", "--from", "stripe");
  await place.webhooks("new", "--from", "github");
  place.write("webhooks/stripe/transform.js", place.read("webhooks/stripe/transform.js").replace("stripe/$", "paid/$"));
  const failed = await place.webhooks("test");
  assert.equal(failed.code, 1);
  assert.match(
    failed.stdout,
    /failed an invoice was paid\n.*\n.*\n.*\n\s+- +"name": "stripe\/invoice.paid",\n\s+\+ +"name": "paid\/invoice.paid",/,
  );
  assert.match(failed.stdout, /Fixtures: 3 passed, 2 failed\./);
  const { code, body } = await place.json("test");
  assert.deepEqual([code, body.passed, body.failed], [1, 3, 2]);
  assert.equal(body.webhooks[1].fixtures[0].actual.name, "paid/invoice.paid");
  assert.equal((await place.webhooks("test", "github")).code, 0, "only the one that was asked for");
});

test("mistakes in files are named with file and place, all at once", async (t) => {
  const place = workingFolder(t);
  place.write("webhooks/a/webhook.json", '{\n  "name": "A",\n}');
  place.write("webhooks/a/transform.js", "() => ({})");
  place.write("webhooks/b/webhook.json", '{"name":"B","enable":true}');
  place.write("webhooks/b/transform.js", "() => ({})");
  const { code, stdout, stderr } = await place.webhooks("test");
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^error: webhooks\/a\/webhook\.json:3:1: Expected double-quoted property name/m);
  assert.match(stderr, /^error: webhooks\/b\/webhook\.json: .*"enable"/m);
});

test("a transform that does not parse is a line with file:line:column", async (t) => {
  const place = workingFolder(t, NO_SERVER);
  place.write("webhooks/a/webhook.json", '{"name":"A"}');
  place.write("webhooks/a/transform.js", "function transform(evt) {\n  return { name: };\n}\n");
  assert.match((await place.webhooks("test")).stdout, /webhooks\/a\/transform\.js:2:\d+: SyntaxError/);
  for (const command of [["plan"], ["apply"], ["apply", "--skip-tests"]]) {
    const { code, stderr } = await place.webhooks(...command);
    assert.equal(code, 1, command.join(" "));
    assert.match(stderr, /^error: webhooks\/a\/transform\.js:2:\d+: SyntaxError/m, command.join(" "));
  }
});

test("help for all and for each; a command that does not exist", async (t) => {
  const place = workingFolder(t);
  for (const argv of [[], ["--help"], ["help"]]) assert.match((await place.webhooks(...argv)).stdout, /^Usage: inlet webhooks <command>/m);
  for (const name of ["new", "test", "pull", "plan", "apply"]) {
    const { code, stdout } = await place.webhooks(name, "--help");
    assert.equal(code, 0);
    assert.match(stdout, /Examples:[\s\S]*Exit codes:/, name);
  }
  const unknown = await place.webhooks("push");
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /there is no command "push"/);
  assert.equal((await place.webhooks("plan", "--nonsense")).code, 1, "2 would mean that something differs");
});
