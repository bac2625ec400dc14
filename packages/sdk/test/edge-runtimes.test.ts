/** Without Node: no process, no setImmediate, no Buffer, WebCrypto only. The endpoint of `/fetch` must do with what the web offers. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const SCRIPT = `
const say = console.log;
for (const name of ["process", "setImmediate", "clearImmediate", "global", "require", "module"]) delete globalThis[name];
const { Inlet } = await import("@inlet/sdk");
const { serve } = await import("@inlet/sdk/fetch");
const { signBody } = await import("./src/wire/signing.ts");
const key = "signkey-prod-" + "0a".repeat(32);
const sent = [];
const fetch = async (url, { headers }) => (sent.push([url, headers["x-service-run"]]), new Response('{"ids":["1"],"status":200}'));
const inlet = new Inlet({ id: "edge", baseUrl: "https://inlet.example", eventKey: "k", signingKey: key, fetch });
const fn = inlet.createFunction({ id: "f" }, { event: "x" }, async ({ step }) => {
  const both = await Promise.all([step.run("a", () => 1), step.run("b", () => 2)]);
  await step.sendEvent("c", { name: "y", data: {} });
  return both;
});
const handler = serve({ client: inlet, functions: [fn] });
async function call(stepId, steps, stack) {
  const body = JSON.stringify({ event: { name: "x", data: {}, id: "1", ts: 1 }, events: [], steps, ctx: { run_id: "run", attempt: 0, max_attempts: 1, stack: { stack } } });
  const headers = { "x-service-signature": await signBody(new TextEncoder().encode(body), key) };
  const answer = await handler(new Request("https://app.example/api?fnId=edge-f&stepId=" + stepId, { method: "POST", body, headers }));
  return { status: answer.status, body: await answer.json() };
}
const planned = await call("step", {}, []);
const steps = {};
for (const { id } of planned.body) steps[id] = { data: (await call(id, {}, [])).body[0].data };
const ids = Object.keys(steps);
const third = await call("step", steps, ids.toReversed());
steps[third.body[0].id] = { data: third.body[0].data };
const end = await call("step", steps, [...ids, third.body[0].id]);
say(JSON.stringify({ planned: planned.body.map(({ op }) => op), end, sent, process: typeof process }));
`;

test("the endpoint works where there is no Node", () => {
  const cwd = new URL("..", import.meta.url);
  const { INLET_DEV: _, NODE_ENV: __, ...env } = process.env;
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", SCRIPT], { cwd, env, encoding: "utf8" });
  assert.deepEqual(JSON.parse(text), {
    planned: ["StepPlanned", "StepPlanned"],
    end: { status: 200, body: [1, 2] },
    sent: [["https://inlet.example/e/k", "run"]],
    process: "undefined",
  });
});

test("only the part for Node's http uses Buffer", () => {
  // Node's own Request needs it, so the test above cannot take it away.
  const source = new URL("../src/", import.meta.url);
  const users = globSync("**/*.ts", { cwd: source })
    .filter((file) => !file.endsWith(".test.ts"))
    .filter((file) => /\bBuffer\./.test(readFileSync(new URL(file, source), "utf8")));
  assert.deepEqual(users, ["serving/node-http.ts"]);
});
