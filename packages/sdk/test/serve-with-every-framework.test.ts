/** Each adapter in its real framework: signed calls, registration, introspection, and what is refused. */

import assert from "node:assert/strict";
import type { IncomingMessage, RequestListener } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import test, { type TestContext } from "node:test";
import { Inlet } from "@inlet/sdk";
import * as astroAdapter from "@inlet/sdk/astro";
import * as cloudflareAdapter from "@inlet/sdk/cloudflare";
import * as expressAdapter from "@inlet/sdk/express";
import * as fastifyAdapter from "@inlet/sdk/fastify";
import * as fetchAdapter from "@inlet/sdk/fetch";
import * as h3Adapter from "@inlet/sdk/h3";
import * as honoAdapter from "@inlet/sdk/hono";
import * as koaAdapter from "@inlet/sdk/koa";
import * as lambdaAdapter from "@inlet/sdk/lambda";
import * as nextAdapter from "@inlet/sdk/next";
import * as nodeAdapter from "@inlet/sdk/node";
import * as remixAdapter from "@inlet/sdk/remix";
import * as sveltekitAdapter from "@inlet/sdk/sveltekit";
import express from "express";
import Fastify from "fastify";
import { defineEventHandler, H3 } from "h3";
import { toNodeHandler } from "h3/node";
import * as h3v1 from "h3-v1";
import { Hono } from "hono";
import { bearerToken, signBody } from "../src/wire/signing.ts";
import { driveRun } from "./drive-run.ts";
import { listen } from "./listen.ts";
import { type RecordingService, startRecordingService } from "./recording-service.ts";
import { quiet } from "./test-app.ts";

const KEY = `signkey-prod-${"0a".repeat(32)}`;
const PREVIOUS = `signkey-prod-${"0b".repeat(32)}`;
const PATH = "/api/inlet";

type ServeOptions = nodeAdapter.ServeOptions;
type Start = (t: TestContext, options: ServeOptions) => Promise<string>;

/** A handler of the Fetch standard behind Node's server, as hosts of such handlers do it. */
function bridge(handler: (request: Request) => Response | Promise<Response>): RequestListener {
  return async (request, response) => {
    const init = { method: request.method ?? "GET", headers: request.headers as Record<string, string> };
    const body = request.method === "GET" ? {} : { body: Readable.toWeb(request) as ReadableStream, duplex: "half" as const };
    const answer = await handler(new Request(`http://${request.headers.host}${request.url}`, { ...init, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

async function startFastify(t: TestContext, register: (app: ReturnType<typeof Fastify>) => void): Promise<string> {
  const app = Fastify({ forceCloseConnections: true });
  t.after(() => app.close());
  register(app);
  return app.listen({ port: 0, host: "127.0.0.1" });
}

/** What the parsers of Express 4 do with a request that is not theirs. */
const emptyBody: express.RequestHandler = (request, _response, next) => {
  request.body ??= {};
  next();
};

const STARTS: Record<string, Start> = {
  node: (t, options) => listen(t, nodeAdapter.serve(options)),
  "express, body unread": (t, options) => listen(t, express().set("env", "test").use(PATH, expressAdapter.serve(options))),
  "express 4 after a parser of other bodies": (t, options) =>
    listen(t, express().set("env", "test").use(emptyBody).use(PATH, expressAdapter.serve(options))),
  "express after express.json()": (t, options) =>
    listen(t, express().set("env", "test").use(express.json()).use(PATH, expressAdapter.serve(options))),
  "express after express.raw()": (t, options) =>
    listen(
      t,
      express()
        .use(express.raw({ type: "*/*" }))
        .use(PATH, expressAdapter.serve(options)),
    ),
  "fastify, plugin": (t, options) => startFastify(t, (app) => app.register(fastifyAdapter.servePlugin(options), { prefix: PATH })),
  "fastify, route": (t, options) =>
    startFastify(t, (app) => app.route({ method: ["GET", "POST", "PUT"], url: PATH, handler: fastifyAdapter.serve(options) })),
  hono: (t, options) => listen(t, bridge(new Hono().on(["GET", "POST", "PUT"], PATH, honoAdapter.serve(options)).fetch)),
  next: (t, options) => {
    const routes = nextAdapter.serve(options);
    return listen(
      t,
      bridge((request) => routes[request.method as "GET"](request)),
    );
  },
  fetch: (t, options) => listen(t, bridge(fetchAdapter.serve(options))),
  sveltekit: (t, options) => {
    const routes = sveltekitAdapter.serve(options);
    return listen(
      t,
      bridge((request) => routes[request.method as "GET"]({ request })),
    );
  },
  astro: (t, options) => {
    const routes = astroAdapter.serve(options);
    return listen(
      t,
      bridge((request) => routes[request.method as "GET"]({ request })),
    );
  },
  remix: (t, options) => {
    const { action, loader } = remixAdapter.serve(options);
    return listen(
      t,
      bridge((request) => (request.method === "GET" ? loader : action)({ request })),
    );
  },
  "cloudflare, variables of the request": (t, options) => {
    const worker = cloudflareAdapter.serve((env) => {
      assert.equal(env.INLET_DEV, "0");
      return options;
    });
    const env = { INLET_DEV: "0" };
    return listen(
      t,
      bridge((request) => worker.fetch(request, env)),
    );
  },
  cloudflare: (t, options) => listen(t, bridge(cloudflareAdapter.serve(options).fetch)),
  "koa, body unread": (t, options) => listen(t, koaApp(koaAdapter.serve(options))),
  "koa after a body parser": (t, options) =>
    listen(
      t,
      koaApp(koaAdapter.serve(options), (rawBody) => ({ body: parsedOr(rawBody), rawBody })),
    ),
  "koa after a parser that keeps no text": (t, options) =>
    listen(
      t,
      koaApp(koaAdapter.serve(options), (rawBody) => ({ body: parsedOr(rawBody) })),
    ),
  "h3, version 1": (t, options) => {
    const routes = h3v1.createRouter().use(PATH, h3v1.defineEventHandler(h3Adapter.serve(options)));
    return listen(t, h3v1.toNodeListener(h3v1.createApp().use(routes)));
  },
  "h3, version 2": (t, options) => listen(t, toNodeHandler(new H3().all(PATH, defineEventHandler(h3Adapter.serve(options))))),
  "lambda, version 2.0": (t, options) => listen(t, lambdaLike(lambdaAdapter.serve(options), "2.0")),
  "lambda, version 1.0": (t, options) => listen(t, lambdaLike(lambdaAdapter.serve(options), "1.0")),
};

/** A parser that leaves what it does not understand to the handler. */
function parsedOr(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** The parts of Koa that are used; the package has no types. */
interface Koa {
  use(middleware: (context: koaAdapter.KoaContext, next: () => Promise<void>) => Promise<void>): Koa;
  callback(): RequestListener;
}
const Koa = createRequire(import.meta.url)("koa") as new () => Koa;

/** The handler behind a body parser, which leaves a request without a body as it is. */
function koaApp(handler: (context: koaAdapter.KoaContext) => Promise<void>, parse?: (text: string) => object): RequestListener {
  const app = new Koa().use(async (context, next) => {
    const body = parse ? await text(context.req as IncomingMessage) : "";
    if (parse && body) Object.assign(context.request, parse(body));
    await next();
  });
  return app.use(handler).callback();
}

/** As API Gateway calls a Lambda function. */
function lambdaLike(
  handler: (event: lambdaAdapter.LambdaEvent) => Promise<lambdaAdapter.LambdaResponse>,
  version: "1.0" | "2.0",
): RequestListener {
  return async (req, res) => {
    const url = new URL(req.url ?? "", `http://${req.headers.host}`);
    const body = await text(req);
    const headers = { ...(req.headers as Record<string, string>), "x-forwarded-proto": "http" };
    const event: lambdaAdapter.LambdaEvent =
      version === "2.0"
        ? {
            rawPath: url.pathname,
            rawQueryString: url.searchParams.toString(),
            headers,
            requestContext: { http: { method: req.method ?? "" } },
            ...(body && { body: Buffer.from(body).toString("base64"), isBase64Encoded: true }),
          }
        : {
            path: "/without/the/stage",
            httpMethod: req.method ?? "",
            body: body || null,
            isBase64Encoded: false,
            headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
            multiValueQueryStringParameters: Object.fromEntries(
              [...url.searchParams.keys()].map((name) => [name, url.searchParams.getAll(name)]),
            ),
            requestContext: { path: url.pathname },
          };
    const answer = await handler(event);
    res.writeHead(answer.statusCode, answer.headers);
    res.end(answer.body);
  };
}

function shop(service: RecordingService, overrides: { isDev?: boolean; env?: string } = {}): ServeOptions {
  const settings = {
    signingKey: KEY,
    signingKeyFallback: PREVIOUS,
    eventKey: "secret-key",
    baseUrl: service.url,
    isDev: false,
    logger: quiet,
  };
  const client = new Inlet({ id: "shop", ...settings, ...overrides });
  const greet = client.createFunction({ id: "greet" }, { event: "test/event" }, async ({ event, step }) => {
    const name = await step.run("name", () => String(event.data.name).toUpperCase());
    return `hello ${name} ${event.data.price}`;
  });
  return { client, functions: [greet] };
}

for (const [framework, start] of Object.entries(STARTS)) {
  test(`${framework}: runs functions signed with the current or the previous key, and refuses others`, async (t) => {
    const service = await startRecordingService(t);
    const url = `${await start(t, shop(service))}${PATH}`;
    const drive = { url, functionId: "shop-greet", event: { name: "test/event", data: { name: "Zoë", price: 1e21, z: 1, a: 2 } } };
    for (const signingKey of [KEY, PREVIOUS]) {
      assert.equal((await driveRun({ ...drive, signingKey })).output, "hello ZOË 1e+21");
    }
    const forged = await driveRun({ ...drive, signingKey: `signkey-prod-${"0c".repeat(32)}` });
    assert.deepEqual(
      [forged.status, forged.calls[0]?.status, (forged.output as { code: string }).code],
      ["failed", 401, "signature_invalid"],
    );
    assert.equal((await driveRun(drive)).calls[0]?.status, 401);
  });

  test(`${framework}: registers on PUT and tells about itself on GET, without secrets`, async (t) => {
    const service = await startRecordingService(t);
    const url = `${await start(t, shop(service, { env: "feature/cart" }))}${PATH}`;
    const body = JSON.stringify({ url });
    const headers = { "content-type": "application/json", "x-service-signature": await signBody(Buffer.from(body), KEY) };
    const put = await fetch(url, { method: "PUT", headers, body });
    assert.deepEqual([put.status, await put.json()], [200, { message: "Registered", modified: true, url, functions: 1 }]);
    const [registration] = service.requests;
    assert.equal(registration?.headers.authorization, `Bearer ${await bearerToken(KEY)}`);
    assert.equal(registration?.headers["x-service-env"], "feature/cart");
    assert.match(String(registration?.headers["x-service-sdk"]), /^js:v/);
    const sent = JSON.parse(registration?.body ?? "") as {
      url: string;
      appName: string;
      functions: { steps: { step: { runtime: { url: string } } } }[];
    };
    assert.deepEqual([sent.url, sent.appName], [url, "shop"]);
    assert.equal(sent.functions[0]?.steps.step.runtime.url, `${url}?fnId=shop-greet&stepId=step`);
    const get = await fetch(url);
    const text = await get.text();
    assert.equal(get.status, 200);
    assert.deepEqual([JSON.parse(text).app, JSON.parse(text).functionCount, JSON.parse(text).functions], ["shop", 1, undefined]);
    assert.doesNotMatch(text, /0a0a|0b0b|secret-key/);
  });

  test(`${framework}: says what is wrong with a request`, async (t) => {
    const service = await startRecordingService(t);
    const url = `${await start(t, shop(service, { isDev: true }))}${PATH}`;
    const post = (query: string, body: string) =>
      fetch(url + query, { method: "POST", body, headers: { "content-type": "application/json" } });
    const unknown = await post("?fnId=shop-none&stepId=step", "{}");
    assert.equal(unknown.status, 404);
    assert.match(await unknown.text(), /has no function \\"shop-none\\". It has: shop-greet/);
    assert.equal((await post("", "{}")).status, 400);
    assert.equal((await post("?fnId=shop-greet", "{")).status, 400);
    const notACall = await post("?fnId=shop-greet", '{"event":{}}');
    assert.deepEqual(
      [notACall.status, ((await notACall.json()) as { error: string }).error],
      [400, "Not a call of a function: ctx.run_id is missing"],
    );
  });
}

test("a body beyond the limit is refused with its own code", async (t) => {
  const service = await startRecordingService(t);
  for (const framework of ["node", "fastify, plugin", "fetch"]) {
    const url = `${await STARTS[framework]?.(t, shop(service, { isDev: true }))}${PATH}`;
    const answer = await fetch(url, { method: "POST", body: "x".repeat(17 * 1024 * 1024) });
    assert.deepEqual([framework, answer.status, ((await answer.json()) as { code: string }).code], [framework, 413, "body_too_large"]);
  }
});

test("other methods are refused", async (t) => {
  const url = await listen(t, nodeAdapter.serve(shop(await startRecordingService(t))));
  const answer = await fetch(url, { method: "DELETE" });
  assert.deepEqual([answer.status, answer.headers.get("allow")], [405, "GET, POST, PUT"]);
});

test("an unsigned PUT is believed nothing: it is refused, or registers the fixed address", async (t) => {
  const service = await startRecordingService(t);
  const body = JSON.stringify({ url: "http://thief.example/api" });
  const open = `${await listen(t, nodeAdapter.serve(shop(service)))}${PATH}`;
  assert.equal((await fetch(open, { method: "PUT", body })).status, 401);
  assert.equal(service.requests.length, 0);
  const fixed = { ...shop(service), serveOrigin: "https://shop.example", servePath: "/hooks/inlet" };
  assert.equal((await fetch(`${await listen(t, nodeAdapter.serve(fixed))}${PATH}`, { method: "PUT", body })).status, 200);
  assert.equal(JSON.parse(service.requests[0]?.body ?? "").url, "https://shop.example/hooks/inlet");
});

test("registration falls back to the previous key, and reports a refusal or an absent service", async (t) => {
  const service = await startRecordingService(t);
  const url = await listen(t, nodeAdapter.serve({ ...shop(service), serveOrigin: "https://shop.example" }));
  service.script.push({ status: 401, body: { error: "unknown key", code: "signing_key_invalid", status: 401 } });
  assert.equal((await fetch(url, { method: "PUT" })).status, 200);
  assert.deepEqual(
    service.requests.map(({ headers }) => headers.authorization),
    [`Bearer ${await bearerToken(KEY)}`, `Bearer ${await bearerToken(PREVIOUS)}`],
  );
  service.script.push({ status: 400, body: { error: "At least one function is invalid", code: "function_invalid", status: 400 } });
  const refused = await fetch(url, { method: "PUT" });
  assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [400, "function_invalid"]);
  const nobody = new Inlet({ id: "shop", isDev: true, baseUrl: "http://127.0.0.1:1", logger: quiet });
  const alone = await fetch(await listen(t, nodeAdapter.serve({ client: nobody, functions: [] })), { method: "PUT" });
  assert.deepEqual([alone.status, ((await alone.json()) as { code: string }).code], [502, "service_unreachable"]);
});

test("outside dev a missing signing key is an error that names the variable", async (t) => {
  const client = new Inlet({ id: "shop", isDev: false, variables: {}, logger: quiet });
  const answer = await fetch(await listen(t, nodeAdapter.serve({ client, functions: [] })), { method: "POST", body: "{}" });
  assert.equal(answer.status, 500);
  assert.match(await answer.text(), /INLET_SIGNING_KEY/);
});

test("two functions with one id, and what is not a function, are refused when they are served", () => {
  const client = new Inlet({ id: "shop", isDev: true });
  const fn = client.createFunction({ id: "twice" }, { event: "x" }, () => {});
  assert.throws(() => nodeAdapter.serve({ client, functions: [fn, fn] }), /Two functions have the id "twice"/);
  // As of a module that does not export it, in JavaScript.
  const absent = [fn, undefined] as unknown as (typeof fn)[];
  assert.throws(
    () => nodeAdapter.serve({ client, functions: absent }),
    /functions\[1\] is not a function of createFunction: it is undefined/,
  );
});
