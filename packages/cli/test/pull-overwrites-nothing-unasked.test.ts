import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "../../server/test/support/both-stores.ts";
import { until } from "../../server/test/support/runs.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const SOURCE = "// Mine\nfunction transform(evt) {\n  return { name: 'a', data: evt };\n}\n";

test("what the server has becomes files that say the same", async (t) => {
  const { rest, variables } = await startServer(t);
  await rest("POST", "/environments", { name: "staging", kind: "custom" });
  const lists = { eventNames: { mode: "deny", list: ["x/*"] }, ips: { mode: "allow", list: ["10.0.0.0/8", "::1"] } };
  const first = await rest("POST", "/webhooks", { name: "Shop: EU", transform: SOURCE, ...lists, enabled: false });
  const second = await rest("POST", "/webhooks", { name: "Shop EU", transform: SOURCE });
  await rest("POST", "/webhooks", { name: "../Evil", transform: SOURCE }, "staging");

  const place = workingFolder(t, variables);
  const pulled = await place.webhooks("pull");
  assert.equal(pulled.code, 0, pulled.stderr);
  assert.deepEqual(JSON.parse(place.read("webhooks/shop-eu/webhook.json")), {
    id: first.id,
    name: "Shop: EU",
    environment: "production",
    ...lists,
    enabled: false,
  });
  assert.equal(place.read("webhooks/shop-eu/transform.js"), SOURCE);
  assert.equal(JSON.parse(place.read("webhooks/shop-eu-production/webhook.json")).id, second.id);
  assert.equal(place.exists("webhooks/evil"), false, "another environment");

  const staging = await place.json("pull", "--env", "staging");
  assert.deepEqual(
    staging.body.webhooks.map(({ action, folder }: Record<string, string>) => [action, folder]),
    [
      ["written", "webhooks/evil"],
      ["unchanged", "webhooks/shop-eu"],
      ["unchanged", "webhooks/shop-eu-production"],
    ],
  );
  for (const command of ["plan", "pull"]) assert.equal((await place.webhooks(command)).code, 0, command);
});

test("local work is shown and left alone; --force takes the server's version, and keeps fixtures", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  await place.webhooks("new", "--from", "stripe");
  await place.webhooks("new", "Only here");
  await place.apply();
  const mine = "() => ({ name: 'mine', data: {} })\n";
  place.write("webhooks/stripe/transform.js", mine);
  place.edit("webhooks/stripe/webhook.json", { enabled: false });
  const fixtures = place.read("webhooks/stripe/fixtures.json");
  const [only, stripe] = await rest("GET", "/webhooks");
  await rest("DELETE", `/webhooks/${[only, stripe].find(({ name }) => name === "Only here").id}`);
  await rest("POST", "/webhooks", { name: "New", transform: SOURCE });

  const { code, stdout } = await place.webhooks("pull");
  assert.equal(code, 2);
  assert.match(stdout, /^\+ webhooks\/new: written/m);
  assert.match(stdout, /^~ webhooks\/stripe: differs/m);
  assert.match(stdout, /^ {4}enabled: false -> true$/m);
  assert.match(stdout, /^ +- \(\) => \(\{ name: 'mine', data: \{\} \}\)$/m);
  assert.match(stdout, /Only in the folder: webhooks\/only-here\./);
  assert.equal(place.read("webhooks/stripe/transform.js"), mine);

  const forced = await place.webhooks("pull", "--force");
  assert.equal(forced.code, 0, forced.stdout);
  assert.match(place.read("webhooks/stripe/transform.js"), /^\/\/ Stripe/);
  const settings = JSON.parse(place.read("webhooks/stripe/webhook.json"));
  assert.deepEqual([settings.enabled, "environment" in settings], [true, false], "an environment left open stays open");
  assert.equal(place.read("webhooks/stripe/fixtures.json"), fixtures);
  assert.ok(place.exists("webhooks/only-here/transform.js"));
  assert.equal((await place.webhooks("pull")).code, 0);
});

test("an id that was missing is recorded; one that is another server's is replaced only with --force", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  const text = '{ "name": "A",   "enabled": true }\n';
  place.write("webhooks/a/webhook.json", text);
  place.write("webhooks/a/transform.js", SOURCE);
  const { id } = await rest("POST", "/webhooks", { name: "A", transform: SOURCE });
  assert.equal((await place.webhooks("pull")).code, 0);
  assert.equal(place.read("webhooks/a/webhook.json"), `{ "id": "${id}", "name": "A",   "enabled": true }\n`);
  place.edit("webhooks/a/webhook.json", { id: "wh_elsewhere" });
  assert.equal((await place.webhooks("pull")).code, 0);
  assert.equal(JSON.parse(place.read("webhooks/a/webhook.json")).id, "wh_elsewhere");
  assert.equal((await place.webhooks("pull", "--force")).code, 0);
  assert.equal(JSON.parse(place.read("webhooks/a/webhook.json")).id, id);
});

test("of two pulls at once, one writes a webhook, and the other says so; what a killed one left is ignored", async (t) => {
  const { rest, url, variables } = await startServer(t);
  await rest("POST", "/webhooks", { name: "Shop", transform: SOURCE });
  const proxy = await unsteadyProxy(t, url);
  const held = proxy.hold(/\/webhooks/);
  const place = workingFolder(t, variables);
  place.write("webhooks/.shop-1/webhook.json", "{");
  const slow = place.start("webhooks", "pull", "--url", proxy.url);
  await until("it has read the folder and asks the server", () => held.waiting() > 0 || undefined);
  assert.equal((await place.webhooks("pull")).code, 0);
  held.letGo();
  assert.equal(await slow.ended(), 1);
  assert.match(slow.stderr(), /^error: webhooks.shop was made by another command in the meantime\. Run this one again\.$/m);
  assert.deepEqual(readdirSync(join(place.folder, "webhooks")).sort(), [".shop-1", "shop"]);
  assert.equal((await place.webhooks("plan")).code, 0);
});
