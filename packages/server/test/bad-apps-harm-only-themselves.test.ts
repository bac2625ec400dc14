/** An app that hangs, answers nonsense, answers without end or is gone: its own runs fail or wait, everybody else's go on. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { serveApp } from "./support/apps/app-server.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { endedRun, runDetails, runsOfFunction, type ShownRun, until } from "./support/runs.ts";
import { call, startTestService, type TestService } from "./support/service.ts";

const SDK_HEADERS = { "x-inngest-sdk": "js:v4.0.0", "x-inngest-req-version": "2", "content-type": "application/json" };

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An app with one function, started by `<name>/go`, that answers calls as told. */
async function badApp(t: TestContext, service: TestService, name: string, answer: Answer, retries = 0): Promise<string> {
  const app = await serveApp(t, listener(answer));
  await register(service, name, app.url, retries);
  return app.url;
}

function listener(answer: Answer): RequestListener {
  return (request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => answer(request, response, body));
  };
}

async function register(service: TestService, name: string, url: string, retries: number): Promise<void> {
  const step = {
    id: "step",
    name: "step",
    runtime: { type: "http", url: `${url}?fnId=${name}-fn&stepId=step` },
    retries: { attempts: retries },
  };
  const fn = { id: `${name}-fn`, name: "fn", triggers: [{ event: `${name}/go` }], steps: { step } };
  const body = JSON.stringify({ url, deployType: "ping", framework: "test", appName: name, sdk: "js:v4.0.0", v: "0.1", functions: [fn] });
  const answer = await call(`${service.url}/fn/register`, { method: "POST", body, headers: { "x-inngest-sdk": "js:v4.0.0" } });
  assert.equal(answer.status, 200, answer.text);
}

function start(t: TestContext, callTimeout = "1m", ...flags: string[]): Promise<TestService> {
  const all = ["--retry-interval", "30ms", "--call-timeout", callTimeout, "--drain-timeout", "100ms", ...flags];
  return startTestService(t, { mode: "dev", flags: all });
}

async function runOf(service: TestService, name: string): Promise<ShownRun> {
  const { body } = await service.send({ name: `${name}/go`, data: {} });
  return endedRun(service, body.ids[0]);
}

const operation = (fields: object) => JSON.stringify([{ id: "x", name: "x", displayName: "x", ...fields }]);
const waitFor = (event: string) => ({ event, timeout: "1h" });
/** Too long for an index, and not to be compressed. */
const LONG = randomBytes(10_000).toString("hex");

const good: Answer = (_request, response) => response.writeHead(200, SDK_HEADERS).end('"fine"');

/** `late`: it is the time that runs out. All else is given as long as a busy machine may need. */
const NONSENSE: Record<string, { answer: Answer; error: [string, RegExp]; late?: true }> = {
  "a page of a proxy": {
    answer: (_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome to nginx!</h1>"),
    error: ["NotAnSdk", /not an SDK.*Welcome to nginx/],
  },
  "no JSON": {
    answer: (_request, response) => response.writeHead(200, SDK_HEADERS).end("{oops"),
    error: ["BadResponse", /not with JSON: \{oops/],
  },
  "no operations": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end('[{"id":"x"}]'),
    error: ["BadResponse", /not with operations/],
  },
  "an operation nobody knows": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end('[{"op":"Teleport","id":"x","name":"x"}]'),
    error: ["UnsupportedOperation", /"teleport"/],
  },
  "an id that no index holds": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end(operation({ op: "StepRun", id: LONG })),
    error: ["BadResponse", /not with operations/],
  },
  "a wait for a name that no index holds": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end(operation({ op: "WaitForEvent", opts: waitFor(LONG) })),
    error: ["InvalidStep", /cannot be run: /],
  },
  "a sleep until a time that is none": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end(operation({ op: "Sleep", name: "9".repeat(400) })),
    error: ["InvalidStep", /cannot be run: /],
  },
  "nothing to do, for ever": {
    answer: (_request, response) => response.writeHead(206, SDK_HEADERS).end("[]"),
    error: ["NothingToDo", /neither a result nor a new step/],
  },
  "a status without words": {
    answer: (_request, response) => response.writeHead(503).end(),
    error: ["Error", /status 503: \(nothing\)/],
  },
  "a broken stream": {
    answer: (_request, response) => response.writeHead(201, SDK_HEADERS).end('   {"status":'),
    error: ["BadResponse", /answered 201, but not with a status and a body/],
  },
  "a broken connection": {
    answer: (request) => request.socket.destroy(),
    error: ["NoResponse", /cannot be reached/],
  },
  "half a response": {
    answer(_request, response) {
      response.writeHead(200, { ...SDK_HEADERS, "content-length": "1000" }).write('"hal');
      response.socket?.end();
    },
    error: ["NoResponse", /cannot be reached/],
  },
  "more than 8 MiB, said so": {
    answer: (_request, response) => response.writeHead(200, SDK_HEADERS).end(JSON.stringify("x".repeat(9 * 1024 * 1024))),
    error: ["NoResponse", /larger than 8 MiB/],
  },
  "more than 8 MiB, bit by bit": {
    answer(_request, response) {
      response.writeHead(200, SDK_HEADERS);
      for (let i = 0; i < 9; i++) response.write("x".repeat(1024 * 1024));
      response.end();
    },
    error: ["NoResponse", /larger than 8 MiB/],
  },
  silence: {
    answer: () => {},
    error: ["NoResponse", /did not answer within 1 s/],
    late: true,
  },
  "white space for ever": {
    answer(_request, response) {
      response.writeHead(201, SDK_HEADERS);
      const drip = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drip));
    },
    error: ["NoResponse", /did not answer within 1 s/],
    late: true,
  },
  "redirects in a circle": {
    answer: (request, response) => response.writeHead(307, { location: request.url ?? "/" }).end(),
    error: ["Error", /status 307/],
  },
};

test("nonsense fails the run it was the response to, with a reason a person understands", { concurrency: true }, async (t) => {
  const patient = await start(t);
  const impatient = await start(t, "1s");
  await Promise.all(
    Object.entries(NONSENSE).map(([what, { answer, error, late }], index) =>
      t.test(what, async () => {
        const service = late ? impatient : patient;
        const name = `bad${index}`;
        await badApp(t, service, name, answer);
        const run = await runOf(service, name);
        assert.deepEqual([run.status, run.error?.name], ["failed", error[0]], JSON.stringify(run));
        assert.match(run.error?.message ?? "", error[1]);
      }),
    ),
  );
});

test("a redirect is followed, with the body", async (t) => {
  const service = await start(t);
  await badApp(t, service, "moved", (request, response, body) => {
    if (request.url?.startsWith("/new")) return response.writeHead(200, SDK_HEADERS).end(JSON.stringify(JSON.parse(body).event.name));
    return response.writeHead(307, { location: `/new${request.url}` }).end();
  });
  const run = await runOf(service, "moved");
  assert.deepEqual([run.status, run.output], ["completed", "moved/go"]);
});

test("an app that hangs with all its calls holds up no other app", async (t) => {
  const service = await start(t, "1h", "--app-calls", "10");
  let hanging = 0;
  await badApp(t, service, "hanging", () => void hanging++);
  await badApp(t, service, "good", good);
  const events = Array.from({ length: 1_500 }, () => ({ name: "hanging/go", data: {} }));
  await service.send(events);
  await until("all its calls", () => (hanging === 10 ? true : undefined));
  const runs = await Promise.all(Array.from({ length: 20 }, () => runOf(service, "good")));
  assert.ok(runs.every(({ status, output }) => status === "completed" && output === "fine"));
  assert.equal(hanging, 10, "no more calls at a time than allowed");
});

test("an app that is gone is asked again, and its runs complete when it is back; others do not notice", async (t) => {
  const service = await start(t);
  await badApp(t, service, "good", good);
  const port = await freePort();
  const gone = await serveApp(t, listener(good), port);
  await register(service, "gone", gone.url, 20);
  await gone.stop();
  const { body } = await service.send([1, 2, 3].map((n) => ({ name: "gone/go", data: { n } })));
  await until("a failed attempt of each", async () => {
    const runs = await Promise.all((await runsOfFunction(service, "gone-fn")).map(({ id }) => runDetails(service, id)));
    return runs.length === 3 && runs.every(({ attempts }) => (attempts?.length ?? 0) > 0) ? true : undefined;
  });
  assert.equal((await runOf(service, "good")).status, "completed");
  await serveApp(t, listener(good), port);
  for (const id of body.ids) {
    const run = await endedRun(service, id);
    assert.equal(run.status, "completed", JSON.stringify(run));
    assert.match(run.attempts?.[0].error.message, /nothing listens at its address/);
    assert.equal(run.attempts?.[0].httpStatus, null);
  }
});

test("an app that was removed ends the runs it still had, with a reason", async (t) => {
  const service = await start(t, "1h");
  let asked = 0;
  await badApp(
    t,
    service,
    "leaving",
    (_request, response) => {
      asked++;
      response.writeHead(500, SDK_HEADERS).end('{"name":"Error","message":"not now"}');
    },
    20,
  );
  const { body } = await service.send({ name: "leaving/go", data: {} });
  await until("a call", () => (asked > 0 ? true : undefined));
  const [app] = (await service.rest("GET", "/apps")).body.data;
  assert.equal((await service.rest("DELETE", `/apps/${app.id}`)).status, 200);
  const run = await endedRun(service, body.ids[0]);
  assert.deepEqual([run.status, run.error?.message], ["failed", "Its app was removed."]);
});
