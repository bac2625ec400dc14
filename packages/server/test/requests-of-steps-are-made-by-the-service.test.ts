/**
 * step.fetch and step.ai.infer: the service makes the request, once, tries it again when it fails, follows its rules about addresses, and
 * keeps no secret of it.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { type Cases, onOneService } from "./support/one-service.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { queryStore, storedText } from "./support/store-contents.ts";

const SECRET = "sk-very-secret-4711";
/** Known to the app alone. */
const OWN_SECRET = "sk-of-the-app-0815";
const FLAGS = ["--retry-interval", "50ms"];

interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** An API of somebody else. */
async function startApi(t: TestContext, answer: (seen: Seen, response: ServerResponse, count: number) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
      answer(one, response, seen.push(one));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const json = (response: ServerResponse, value: object, status = 200, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));

async function startCaller(t: TestContext, service: TestService) {
  return startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "fetch", retries: 2 }, { event: "shop/fetch" }, async ({ event, step }) => {
      const { url, ...options } = event.data;
      const response = await step.fetch(url, options);
      return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
    }),
    inlet.createFunction({ id: "infer", retries: 2 }, { event: "shop/infer" }, ({ event, step }) =>
      step.ai.infer("ask", { model: event.data.model, body: { prompt: "hello" } }),
    ),
    inlet.createFunction({ id: "own", retries: 2 }, { event: "shop/own" }, async ({ event, step }) => {
      await step.fetch(`${event.data.url}/?key=${OWN_SECRET}`, { headers: { authorization: `Bearer ${OWN_SECRET}` } });
    }),
    inlet.createFunction({ id: "both" }, { event: "shop/both" }, ({ event, step }) =>
      Promise.all([1, 2, 3].map(async (n) => (await step.fetch(`${event.data.url}/${n}`)).text())),
    ),
    inlet.createFunction({ id: "odd" }, { event: "shop/odd" }, async ({ event, step }) => {
      const [response] = await Promise.all([step.fetch(event.data.url), step.run("beside", () => 1)]);
      const { status, ok, headers } = response;
      return { status, ok, place: headers.get("x-place"), type: headers.get("content-type"), text: await response.text() };
    }),
    inlet.createFunction({ id: "wrap" }, { event: "shop/wrap" }, ({ step }) =>
      step.ai.wrap("generate", () => ({ text: "hi", usage: { inputTokens: 2, outputTokens: 3 } })),
    ),
  ]);
}

async function run(service: TestService, name: string, data: object) {
  const { body } = await service.send({ name: `shop/${name}`, data });
  return (await runsOf(service, body.ids[0]))[0];
}

const CASES: Cases = {
  async "a fetch is made once, whatever its status, and the function gets the response"(service, t) {
    const api = await startApi(t, (_seen, response) => json(response, { rate: 0.1 }, 418));
    await startCaller(t, service);
    const sent = { method: "POST", headers: { "x-trace": "1", Host: "elsewhere.example" }, body: '{"n":1}' };
    const ended = await run(service, "fetch", { url: `${api.url}/rates?token=${SECRET}`, ...sent });
    assert.deepEqual(ended.output, { status: 418, type: "application/json", text: '{"rate":0.1}' });
    assert.deepEqual(
      api.seen.map(({ method, path, body, headers }) => [method, path, body, headers["x-trace"]]),
      [["POST", `/rates?token=${SECRET}`, '{"n":1}', "1"]],
    );
    const [step] = ended.steps;
    assert.deepEqual([step.kind, step.attempts, step.output.status_code], ["fetch", 1, 418]);
    assert.deepEqual(step.request, { method: "POST", url: `${api.url}/rates?token=***`, headers: { "x-trace": "1" } });
    assert.deepEqual(
      ended.calls.map(({ stepId, httpStatus }: { stepId: string | null; httpStatus: number }) => [stepId === step.id, httpStatus]),
      [
        [false, 206],
        [true, 418],
        [false, 200],
      ],
    );
  },
  async "a response that only fetch could have made reaches the function, beside other steps too"(service, t) {
    const place = Buffer.from("東京").toString("latin1");
    const api = await startApi(t, (_seen, response) => response.writeHead(999, { "x-place": place }).end("denied"));
    await startCaller(t, service);
    const ended = await run(service, "odd", { url: api.url });
    assert.deepEqual(ended.output, { status: 999, ok: false, place, type: null, text: "denied" });
  },
  async "an inference is tried again until it is answered with 2xx; then it is an error of its own"(service, t) {
    const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
    const api = await startApi(t, ({ path }, response, count) => {
      if (path === "/never" || count === 1) json(response, { error: "busy" }, 529, path === "/never" ? {} : { "retry-after": "1" });
      else json(response, { choices: [{ text: "hi" }], usage });
    });
    await startCaller(t, service);
    const model = { url: `${api.url}/v1/chat`, authKey: SECRET, format: "openai-chat", headers: { "x-extra": "e" } };
    const ended = await run(service, "infer", { model });
    assert.deepEqual(ended.output, { choices: [{ text: "hi" }], usage });
    const [step] = ended.steps;
    assert.deepEqual([step.kind, step.attempts, step.tokens], ["infer", 2, { input: 7, output: 5, total: 12 }]);
    assert.equal(step.request.headers.authorization, "***");
    assert.deepEqual([api.seen[1]?.headers.authorization, api.seen[1]?.headers["x-extra"]], [`Bearer ${SECRET}`, "e"]);
    assert.deepEqual([api.seen[1]?.method, api.seen[1]?.body], ["POST", '{"prompt":"hello"}']);

    const failed = await run(service, "infer", { model: { ...model, url: `${api.url}/never`, format: "anthropic" } });
    assert.deepEqual([failed.status, failed.steps[0].error.name, failed.steps[0].attempts], ["failed", "AIGatewayError", 3]);
    assert.match(failed.steps[0].error.message, /status 529: .*busy/);
    assert.equal(api.seen.at(-1)?.headers["x-api-key"], SECRET);
    assert.equal(failed.attempts.filter(({ stepId }: { stepId: string }) => stepId === failed.steps[0].id).length, 3);

    const bedrock = (url: string, authKey: string) => run(service, "infer", { model: { url, authKey, format: "bedrock" } });
    const unsigned = await bedrock("https://bedrock-runtime.example/model/x", "");
    assert.equal(unsigned.status, "failed");
    assert.match(unsigned.error.message, /Use a Bedrock API key, or call Bedrock with the AWS SDK in step\.ai\.wrap/);
    assert.equal((await bedrock(`${api.url}/bedrock`, SECRET)).status, "completed");
    assert.equal(api.seen.at(-1)?.headers.authorization, `Bearer ${SECRET}`);

    assert.deepEqual((await run(service, "wrap", {})).steps[0].tokens, { input: 2, output: 3, total: 5 });
  },
  async "secrets of the URL and the body are in no result and no record, also where the record of a response is cut"(service, t) {
    const edge = 4_000 - SECRET.length / 2;
    const api = await startApi(t, ({ path, body }, response) => {
      if (path.startsWith("/echo")) response.end(`${"x".repeat(Math.round(edge))}${SECRET} ${body}`);
      else response.end(`you sent ${body}`);
    });
    await startApp(
      t,
      service,
      (inlet) => [
        inlet.createFunction({ id: "hidden" }, { event: "hidden/fetch" }, async ({ event, step }) => {
          const url = new URL(event.data.url);
          await step.fetch(`http://${OWN_SECRET}:${SECRET}@${url.host}/?key=${SECRET}`);
          await step.fetch(`${url.origin}/echo`, { headers: { authorization: `Bearer ${SECRET}` } });
          const body = JSON.stringify({ login: { user: "jane", password: SECRET } });
          const long = {
            ...Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`x-${n}`, "y".repeat(1_270)])),
            "x-api-key": OWN_SECRET,
          };
          await step.fetch(`${url.origin}/body`, { method: "POST", body });
          await step.fetch(`${url.origin}/long`, { method: "POST", body: `client_secret=${SECRET}`, headers: long });
        }),
      ],
      { id: "hidden" },
    );
    const { body } = await service.send({ name: "hidden/fetch", data: { url: api.url } });
    const [ended] = await runsOf(service, body.ids[0]);
    assert.equal(ended.status, "completed", JSON.stringify(ended));
    assert.deepEqual(
      ended.steps.map(({ output }: { output: { url: string } }) => output.url.slice(api.url.length)),
      ["/?key=***", "/echo", "/body", "/long"],
    );
    // What a server answers is the function's result, and here it holds what was sent to it; its record is not.
    const shown = JSON.stringify([
      ended.calls,
      ended.steps.map(({ request, output }: never) => [request, (output as { url: string }).url]),
    ]);
    for (const secret of [SECRET, OWN_SECRET])
      for (let units = secret.length; units >= 8; units--) assert.ok(!shown.includes(secret.slice(0, units)), secret);
    assert.ok(api.seen.every(({ headers }) => headers["x-0"] === undefined || headers["x-api-key"] === OWN_SECRET));
  },
  async "requests of steps obey the address rules, also when they are redirected; credentials go to no other origin"(service, t) {
    const other = await startApi(t, ({ headers }, response) => json(response, { got: headers.authorization ?? null }));
    const arrived = () => Object.keys(other.seen.at(-1)?.headers ?? {}).sort();
    const api = await startApi(t, ({ path }, response) => {
      const locations: Record<string, string> = {
        "/away": `${other.url}/x`,
        "/metadata": "http://169.254.169.254/latest",
        "/loop": "/loop",
      };
      response.writeHead(path === "/away" ? 302 : 307, { location: locations[path] }).end();
    });
    await startCaller(t, service);
    const headers = { authorization: `Bearer ${SECRET}` };
    const moved = await run(service, "fetch", { url: `${api.url}/away`, headers });
    assert.equal(moved.output.text, '{"got":null}');
    const unusual = { "x-acme": SECRET, "private-id": SECRET, accept: "application/json", "content-type": "text/plain" };
    await run(service, "fetch", { url: `${api.url}/away`, headers: unusual });
    assert.deepEqual(arrived(), ["accept", "connection", "content-type", "host"]);
    await run(service, "fetch", { url: `${api.url}/away`, headers: unusual, method: "POST", body: "text" });
    assert.deepEqual(arrived(), ["accept", "connection", "host"], "the body is not sent on, so neither is its type");
    for (const [path, reason] of [
      ["/metadata", /metadata address/],
      ["/loop", /redirected more than/],
    ] as const) {
      const refused = await run(service, "fetch", { url: `${api.url}${path}`, headers });
      assert.deepEqual([refused.status, refused.steps[0].error.name], ["failed", "GatewayError"]);
      assert.match(refused.steps[0].error.message, reason);
    }
    const { error } = await run(service, "fetch", { url: "http://169.254.169.254/" });
    assert.match(error.message, /metadata address/);
  },
};

test("requests of one service", onOneService(CASES, { flags: FLAGS }));

test("no secret is in what is shown or, once the steps have ended, in the store", async (t) => {
  const service = await startTestService(t, { flags: FLAGS });
  const api = await startApi(t, ({ headers }, response) => json(response, { echoed: headers.authorization ?? headers["x-api-key"] }, 500));
  await startCaller(t, service);
  const model = { url: `${api.url}/v1?key=${SECRET}`, authKey: SECRET, format: "anthropic" };
  const { body } = await service.send({ name: "shop/infer", data: { model: { ...model, authKey: "in the event, not ours to mask" } } });
  const [ended] = await runsOf(service, body.ids[0]);
  assert.ok(!JSON.stringify({ ...ended, event: null }).includes(SECRET), JSON.stringify(ended));
  await run(service, "fetch", { url: "http://127.0.0.1:1/", headers: { authorization: "Bearer sk-other-secret" } });
  await service.stop();
  const [kept, answers] = [
    await queryStore(service, "SELECT detail FROM steps"),
    await queryStore(service, "SELECT answer, path FROM calls"),
  ];
  assert.ok(kept.length >= 2 && answers.length >= 4);
  for (const secret of [SECRET, "sk-other-secret"]) assert.ok(!JSON.stringify([kept, answers]).includes(secret), secret);
});

test("no secret of a request is in the store while it is under way, or waits for its next attempt", async (t) => {
  const service = await startTestService(t, { flags: ["--retry-interval", "1h"] });
  const held: ServerResponse[] = [];
  const api = await startApi(t, (_seen, response) => held.push(response));
  await startCaller(t, service);
  const { body } = await service.send({ name: "shop/own", data: { url: api.url } });
  await poll(async () => (held.length === 1 ? true : null), "the request");
  const [asked] = await runsOf(service, body.ids[0], { until: () => true });
  assert.deepEqual(asked.steps[0].request.headers, { authorization: "***" });
  assert.ok(!(await storedText(service)).includes(OWN_SECRET), "under way");
  held[0]?.destroy();
  const failedOnce = async () => {
    const [run] = await runsOf(service, body.ids[0], { until: () => true });
    return run.attempts.length > 0 ? run : null;
  };
  const waiting = await poll(failedOnce, "a failure");
  assert.deepEqual(waiting.steps[0].request.headers, { authorization: "***" });
  assert.ok(!(await storedText(service)).includes(OWN_SECRET), "before its next attempt");
  assert.equal(api.seen[0]?.headers.authorization, `Bearer ${OWN_SECRET}`);
});

test("parallel requests are made at once; those without a response when the service stops are made again", async (t) => {
  const dataDir = temporaryFolder(t);
  const flags = [...FLAGS, "--drain-timeout", "100ms"];
  const service = await startTestService(t, { flags, dataDir });
  const held: ServerResponse[] = [];
  const api = await startApi(t, ({ path }, response, count) => {
    if (count > 3) response.end(`second response to ${path}`);
    else held.push(response);
  });
  await startCaller(t, service);
  const { body } = await service.send({ name: "shop/both", data: { url: api.url } });
  await poll(async () => (held.length === 3 ? true : null), "three requests at once");
  held[0]?.end("first response");
  await poll(async () => {
    const [run] = await runsOf(service, body.ids[0], { until: () => true });
    return run.steps.some(({ endedAt }: { endedAt: string | null }) => endedAt !== null) ? true : null;
  }, "one response");
  await service.stop();
  const next = await startTestService(t, { flags, dataDir });
  await startCaller(t, next);
  const [ended] = await runsOf(next, body.ids[0]);
  assert.equal(ended.status, "completed", JSON.stringify(ended));
  assert.equal(ended.output.filter((text: string) => text.startsWith("second response")).length, 2);
  assert.equal(ended.output.filter((text: string) => text === "first response").length, 1);
  assert.equal(api.seen.length, 5, "three, and two again");
});
