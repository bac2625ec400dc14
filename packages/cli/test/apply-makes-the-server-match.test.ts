import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const WEBHOOK = "webhooks/stripe/webhook.json";
const TRANSFORM = "webhooks/stripe/transform.js";

async function setUp(t: TestContext) {
  const server = await startServer(t);
  const place = workingFolder(t, server.variables);
  await place.webhooks("new", "--from", "stripe");
  return { ...server, place };
}

test("what apply creates works, and then nothing is left to change", async (t) => {
  const { place, rest } = await setUp(t);
  const planned = await place.webhooks("plan");
  assert.equal(planned.code, 2, planned.stderr);
  assert.match(planned.stdout, /^\+ create stripe: "Stripe" in the server's default environment$/m);
  assert.deepEqual(await rest("GET", "/webhooks"), [], "plan changes nothing");

  const applied = await place.json("apply");
  assert.equal(applied.code, 0);
  const [{ action, id, url, environment }] = applied.body.applied;
  assert.deepEqual([action, environment], ["create", "production"]);
  assert.deepEqual(JSON.parse(place.read(WEBHOOK)), { id, name: "Stripe", eventNames: null, ips: null, enabled: true });

  const [fixture] = JSON.parse(place.read("webhooks/stripe/fixtures.json"));
  const { headers, json } = fixture.request;
  const sent = await fetch(url, { method: "POST", headers, body: JSON.stringify(json) });
  assert.equal(sent.status, 200, await sent.clone().text());
  const [event] = await rest("GET", "/events?name=stripe/*");
  assert.equal(event.name, fixture.event.name);

  const again = await place.webhooks("plan");
  assert.equal(again.code, 0, again.stdout);
  assert.match(again.stdout, /^No changes/m);
  assert.deepEqual((await place.json("apply")).body.applied, []);
});

test("a change is planned field by field with the lines of the transform, and applied as planned", async (t) => {
  const { place, rest } = await setUp(t);
  await place.apply();
  const list = { mode: "allow", list: ["stripe/*"] };
  place.edit(WEBHOOK, { name: "Payments", enabled: false, eventNames: list });
  place.write(TRANSFORM, place.read(TRANSFORM).replace("id: evt.id", "id: String(evt.id)"));
  place.write("webhooks/stripe/fixtures.json", "[]");

  const { code, stdout } = await place.webhooks("plan");
  assert.equal(code, 2);
  assert.match(stdout, /^~ change stripe: "Stripe" in production \(\S+\)$/m);
  assert.match(stdout, /^ {4}name: "Stripe" -> "Payments"$/m);
  assert.match(stdout, /^ {4}enabled: true -> false$/m);
  assert.match(stdout, /^ {4}eventNames: everything -> allow stripe\/\*$/m);
  assert.match(stdout, /^ +- +id: evt\.id,\n +\+ +id: String\(evt\.id\),$/m);
  const planned = await place.json("plan");
  const fields = planned.body.changes[0].fields.map(({ field }: { field: string }) => field);
  assert.deepEqual(fields, ["name", "enabled", "eventNames", "transform"]);

  assert.equal((await place.webhooks("apply")).code, 0);
  const [webhook, ...others] = await rest("GET", "/webhooks");
  assert.deepEqual(others, [], "renamed, not made anew");
  const { name, enabled, eventNames, transform } = webhook;
  assert.deepEqual(
    { name, enabled, eventNames, transform },
    { name: "Payments", enabled: false, eventNames: list, transform: place.read(TRANSFORM) },
  );
  assert.equal((await place.webhooks("plan")).code, 0);
});

test("a folder whose ids were never kept finds its webhooks by name, as in CI", async (t) => {
  const { place, rest, variables } = await setUp(t);
  const checkout = workingFolder(t, variables);
  for (const file of [WEBHOOK, TRANSFORM]) checkout.write(file, place.read(file));
  await place.apply();
  assert.equal((await checkout.webhooks("plan")).code, 0);
  assert.equal((await checkout.webhooks("apply")).code, 0);
  assert.equal((await rest("GET", "/webhooks")).length, 1);
  assert.equal(checkout.read(WEBHOOK), place.read(WEBHOOK), "the id is recorded here as well");
});

test("an id of another server is left alone, and the name decides", async (t) => {
  const { place } = await setUp(t);
  place.edit(WEBHOOK, { id: "wh_elsewhere" });
  const before = place.read(WEBHOOK);
  await place.apply();
  assert.equal(place.read(WEBHOOK), before);
  assert.equal((await place.webhooks("plan")).code, 0);
});

test("each entry goes to its own environment", async (t) => {
  const { place, rest } = await setUp(t);
  await rest("POST", "/environments", { name: "staging", kind: "custom" });
  await place.webhooks("new", "--from", "github", "--env", "staging");
  await place.webhooks("new", "--from", "linear", "--env", "branch");
  assert.equal((await place.webhooks("apply")).code, 0);
  const names = async (environment: string) =>
    (await rest("GET", "/webhooks", undefined, environment)).map(({ name }: { name: string }) => name);
  assert.deepEqual([await names("production"), await names("staging"), await names("branch")], [["Stripe"], ["GitHub"], ["Linear"]]);
  assert.equal((await place.webhooks("plan")).code, 0);
  assert.equal((await place.webhooks("plan", "--env", "staging")).code, 2, "the entry that names none would be new in staging");
});

test("prune deletes what the folder does not have, only when asked, and only in its environments", async (t) => {
  const { place, rest } = await setUp(t);
  await rest("POST", "/environments", { name: "staging", kind: "custom" });
  const transform = "() => ({ name: 'a', data: {} })";
  await rest("POST", "/webhooks", { name: "Old", transform });
  await rest("POST", "/webhooks", { name: "Elsewhere", transform }, "staging");
  await place.apply();
  const kept = await place.webhooks("plan");
  assert.equal(kept.code, 0);
  assert.match(kept.stdout, /Only on the server.*"Old" in production/);

  const planned = await place.webhooks("plan", "--prune");
  assert.equal(planned.code, 2);
  assert.match(planned.stdout, /^- delete "Old" in production/m);
  assert.equal((await place.webhooks("apply", "--prune")).code, 0);
  assert.deepEqual(
    (await rest("GET", "/webhooks")).map(({ name }: { name: string }) => name),
    ["Stripe"],
  );
  assert.equal((await rest("GET", "/webhooks", undefined, "staging")).length, 1);

  place.write("empty/.keep", "");
  const empty = await place.webhooks("apply", "--prune", "--dir", "empty");
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /would delete every webhook/);
});

test("a fixture that fails stops apply before anything is sent, unless told otherwise", async (t) => {
  const { place, rest } = await setUp(t);
  place.write(TRANSFORM, "() => ({ name: 'other', data: {} })");
  const stopped = await place.webhooks("apply");
  assert.equal(stopped.code, 1);
  assert.match(stopped.stdout, /failed an invoice was paid[\s\S]*Nothing was sent/);
  assert.deepEqual(await rest("GET", "/webhooks"), []);
  assert.equal((await place.webhooks("apply", "--skip-tests")).code, 0);
  assert.equal((await rest("GET", "/webhooks")).length, 1);
});

test("when a step fails, what was done is told and kept, and the next apply goes on from there", async (t) => {
  const { place, rest } = await setUp(t);
  await place.webhooks("new", "--from", "github");
  place.edit(WEBHOOK, { ips: { mode: "allow", list: ["nowhere"] } });
  const { code, body } = await place.json("apply");
  assert.equal(code, 1);
  assert.deepEqual([body.applied.map(({ name }: { name: string }) => name), body.failure.code], [["GitHub"], "request_invalid"]);
  assert.match(body.failure.error, /^webhooks\/stripe: .*"nowhere"/);
  place.edit(WEBHOOK, { ips: { mode: "allow", list: ["192.0.2.0/24"] } });
  assert.equal((await place.webhooks("apply")).code, 0);
  assert.equal((await rest("GET", "/webhooks")).length, 2);
});

test("more webhooks than fit on a page", async (t) => {
  const { place, rest } = await setUp(t);
  for (let i = 0; i < 105; i++) await rest("POST", "/webhooks", { name: `w${i}`, transform: "() => ({})" });
  await rest("POST", "/webhooks", { name: "w0", transform: "() => ({})" });
  assert.equal((await place.json("plan")).body.unlisted.length, 106);
});
