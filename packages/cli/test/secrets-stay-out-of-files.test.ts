/** Webhooks as files carry `verify` with the names of secrets; the values come from the environment and are written nowhere. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "../../server/test/support/both-stores.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const WEBHOOK = "webhooks/github/webhook.json";
const SECRET = "the secret that GitHub was given";

test("from a provider of the catalogue to a verified webhook, and back", async (t) => {
  const server = await startServer(t);
  const bare = workingFolder(t, server.variables);
  const made = await bare.webhooks("new", "--provider", "github");
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /Set GITHUB_SECRET to it when you apply\. Without it, apply creates the webhook and prints the URL/);
  const file = JSON.parse(bare.read(WEBHOOK));
  assert.deepEqual(file.verify, { scheme: "github", secrets: ["GITHUB_SECRET"] });
  const waiting = await bare.webhooks("apply");
  assert.equal(waiting.code, 0, waiting.stderr);
  assert.match(waiting.stdout, /url: http[\s\S]*"GitHub" waits for its secret.*then: GITHUB_SECRET=… inlet webhooks apply/);
  const [{ url, id, state }] = await server.rest("GET", "/webhooks");
  assert.equal(state, "waiting_for_secret");
  assert.match((await bare.inlet(["webhooks", "list"])).stdout, /github, waiting for its secret/);
  assert.equal((await fetch(url, { method: "POST", body: "{}" })).status, 401);
  const again = await bare.webhooks("apply");
  assert.deepEqual(
    [again.code, /0 created, 0 changed, 0 deleted/.test(again.stdout), /waits for its secret/.test(again.stdout)],
    [0, true, true],
  );
  await bare.webhooks("new", "Elsewhere", "--provider", "github", "--dir", "w1");
  assert.match((await bare.webhooks("apply", "--dir", "w1")).stdout, /then: ELSEWHERE_SECRET=… inlet webhooks apply --dir w1$/m);
  await server.rest("DELETE", `/webhooks/${JSON.parse(bare.read("w1/elsewhere/webhook.json")).id}`);
  await bare.webhooks("new", "--provider", "twilio");
  const { answer } = JSON.parse(bare.read("webhooks/twilio/webhook.json"));
  assert.deepEqual(answer, { status: 200, contentType: "text/xml", body: "<Response/>" }, "what the provider insists on");
  await bare.webhooks("new", "Texts", "--from", "twilio");
  assert.equal(JSON.parse(bare.read("webhooks/texts/webhook.json")).answer, undefined);
  const from = await bare.webhooks("new", "plain", "--from", "github");
  assert.match(from.stdout, /It verifies nothing: --from takes only the transform\. Use "--provider github"/);
  const named = await bare.webhooks("new", "named");
  assert.deepEqual([named.code, named.stdout.includes("It verifies nothing")], [0, false], "it was not taken from a provider");

  const place = workingFolder(t, { ...server.variables, GITHUB_SECRET: SECRET });
  for (const name of ["webhook.json", "transform.js", "fixtures.json"])
    place.write(`webhooks/github/${name}`, bare.read(`webhooks/github/${name}`));
  const applied = await place.json("apply");
  assert.equal(applied.code, 0, JSON.stringify(applied.body));
  assert.deepEqual([applied.body.applied[0].id, applied.body.applied[0].state], [id, "ready"]);
  const body = '{"zen":"Design for failure."}';
  const headers = { "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": "1" };
  assert.equal((await fetch(url, { method: "POST", body, headers })).status, 401);
  const signature = { "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}` };
  assert.equal((await fetch(url, { method: "POST", body, headers: { ...headers, ...signature } })).status, 200);
  assert.equal((await place.webhooks("plan")).code, 0, "nothing is left to change");

  const rotated = workingFolder(t, { ...server.variables, GITHUB_SECRET: "another secret of the webhook" });
  for (const name of ["webhook.json", "transform.js", "fixtures.json"])
    rotated.write(`webhooks/github/${name}`, place.read(`webhooks/github/${name}`));
  const plan = await rotated.webhooks("plan");
  assert.equal(plan.code, 2, "another value is a change");
  assert.ok(!plan.stdout.includes("another secret"));

  const pulled = workingFolder(t, server.variables);
  assert.equal((await pulled.webhooks("pull")).code, 0);
  const text = pulled.read(WEBHOOK);
  assert.deepEqual(JSON.parse(text).verify, { scheme: "github", toleranceSeconds: 300, secrets: ["GITHUB_SECRET"] });
  assert.ok(!text.includes(SECRET.slice(-4)) && text.includes(id));
});
