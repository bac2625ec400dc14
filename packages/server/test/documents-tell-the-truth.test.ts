/** The tour of the README and the guides: their commands are run as written, their answers compared with what comes back. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "./support/both-stores.ts";
import { openBrowser } from "./support/browser.ts";
import { type CurlCommand, curlCommands } from "./support/curl.ts";
import { API_KEY, call, startTestService } from "./support/service.ts";
import { eventOf, post } from "./support/webhooks.ts";

interface Step {
  command: CurlCommand;
  /** The response shown after the command, if any. */
  shown: unknown;
}

function stepsOf(file: string): Step[] {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({ language, body: body ?? "" }));
  return blocks.flatMap(({ language, body }, i) => {
    if (language !== "sh") return [];
    const next = blocks[i + 1];
    const commands = curlCommands(body);
    return commands.map((command, n) => ({
      command,
      shown: n === commands.length - 1 && next?.language === "json" ? JSON.parse(next.body.replace(/\n\s*/g, "")) : null,
    }));
  });
}

/** The same keys and kinds of values, whatever the ids and times are. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

function at(url: string, command: CurlCommand, fill: (text: string) => string = (text) => text): [string, RequestInit] {
  const headers = Object.fromEntries(Object.entries(command.init.headers).map(([name, value]) => [name, fill(value)]));
  return [fill(command.url).replace(/^http:\/\/localhost:8288/, url), { ...command.init, headers }];
}

test("the tour of the README", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const steps = stepsOf("README.md");
  assert.ok(steps.length >= 4);
  let webhookUrl = "";
  for (const { command, shown } of steps.filter(({ command }) => !command.url.endsWith("/stream"))) {
    const answer = await call(...at(service.url, command, (text) => text.replace(/^http:\/\/\$URL$/, webhookUrl)));
    if (command.url.endsWith("/v1/webhooks")) webhookUrl = answer.body.data.url;
    // "Send it again": the duplicate is what the next step shows.
    if (command.init.body?.toString().includes("order-4711")) assert.deepEqual((await call(...at(service.url, command))).body, answer.body);
    assert.deepEqual(shapeOf(answer.body), shapeOf(shown), command.url);
    if (answer.status >= 400) assert.deepEqual(answer.body, shown, "an error is shown word for word");
  }
});

test("the guide to environments and keys", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
  const [make, send] = stepsOf("docs/how-to/environments-and-keys.md").map(({ command }) => command);
  assert.ok(make && send);
  const made = await call(...at(service.url, make, (text) => text.replace("$API_KEY", "test-api-key")));
  assert.equal(made.status, 201);
  const sent = await call(...at(service.url, send, (text) => text.replace("$BRANCH_KEY", made.body.data.key)));
  assert.equal(sent.status, 200);
});

test("the guide to keys and rotation", async (t) => {
  const service = await startTestService(t);
  const old = (await service.rest("GET", "/keys?kind=event")).body.data[0];
  const fill = (text: string) => text.replace("$API_KEY", API_KEY).replace("$OLD_KEY_ID", old.id);
  const steps = stepsOf("docs/how-to/keys-and-rotation.md");
  assert.equal(steps.length, 6);
  for (const { command, shown } of steps) {
    const answer = await call(...at(service.url, command, fill));
    const isCreation = command.init.method === "POST";
    assert.equal(answer.status, isCreation ? 201 : 200, `${command.url}: ${answer.text}`);
    if (!shown) continue;
    // Of a list the first entry is shown.
    const { data } = answer.body;
    assert.deepEqual(shapeOf({ ...answer.body, data: Array.isArray(data) ? data.slice(0, 1) : data }), shapeOf(shown), command.url);
  }
  const left = (await service.rest("GET", "/keys?kind=event")).body.data;
  assert.deepEqual(
    left.map(({ name }: { name: string }) => name),
    ["web shop, February"],
  );
});

test("the guide to security", async (t) => {
  const service = await startTestService(t);
  const browser = openBrowser(service.url);
  await browser.signIn({ apiKey: API_KEY });
  const sessionId = (await service.rest("GET", "/sessions")).body.data[0].id;
  const fill = (text: string) => text.replace("$API_KEY", API_KEY).replace("$SESSION_ID", sessionId);
  const answers = [];
  for (const { command } of stepsOf("docs/explanation/security.md")) answers.push(await call(...at(service.url, command, fill)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal((await browser.rest("GET", "/session")).status, 401, "the session was ended");
  assert.equal(answers[2]?.body.data[0].action, "session.created");
});

test("the guide to operation", async (t) => {
  const service = await startTestService(t);
  const fill = (text: string) => text.replace("$API_KEY", API_KEY);
  const statuses: string[] = [];
  for (const { command } of stepsOf("docs/how-to/operation.md")) {
    const { status, text } = await call(...at(service.url, command, fill));
    assert.ok(status < 300, `${command.url}: ${text}`);
    statuses.push(`${command.init.method ?? "GET"} ${new URL(command.url).pathname} ${status}`);
  }
  assert.deepEqual(statuses, [
    "POST /v1/keys 201",
    "GET /metrics 200",
    "POST /v1/jobs 202",
    "PUT /v1/environments/production 200",
    "PUT /v1/event-types/shop%2Fpage.viewed 200",
  ]);
});

test("the guide to webhooks", async (t) => {
  const service = await startTestService(t);
  const [make] = stepsOf("docs/how-to/webhooks.md").map(({ command }) => command);
  assert.ok(make);
  const made = await call(...at(service.url, make, (text) => text.replace("$API_KEY", "test-api-key")));
  assert.equal(made.status, 201, made.text);
  const sent = await post(made.body.data.url, { ref: "main" }, { "x-github-event": "push", "x-github-delivery": "d-1" });
  const { name, dedupId, data } = await eventOf(service, sent);
  assert.deepEqual([name, dedupId, data], ["github/push", "d-1", { ref: "main" }]);
});
