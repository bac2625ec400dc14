/** Platforms, with what their vendors publish to run them locally: the runtime of Cloudflare Workers, and the runtime interface client of AWS Lambda. */

import { listening, type Runtime, SERVE } from "./runtime.ts";

/** As a function URL: each request becomes an event of version 2.0, which Lambda's own client takes from the Runtime API and passes to the handler. */
const LAMBDA = listening(
  `
import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";

const waiting = [];
const invoked = new Map();
let wake = () => undefined;

async function invoke(request, response) {
  const url = new URL(request.url, "http://" + request.headers.host);
  const event = {
    version: "2.0",
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers: { ...request.headers, "x-forwarded-proto": "http" },
    requestContext: { http: { method: request.method } },
    body: (await buffer(request)).toString("base64"),
    isBase64Encoded: true,
  };
  const id = crypto.randomUUID();
  invoked.set(id, response);
  waiting.push({ id, event });
  wake();
}

async function runtimeApi(request, response) {
  if (request.url.endsWith("/invocation/next")) {
    while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
    const { id, event } = waiting.shift();
    const body = JSON.stringify(event);
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "lambda-runtime-aws-request-id": id,
      "lambda-runtime-deadline-ms": String(Date.now() + 60_000),
      "lambda-runtime-invoked-function-arn": "arn:aws:lambda:us-east-1:0:function:shop",
    });
    return response.end(body);
  }
  const [, id, outcome] = /invocation\\/([^/]+)\\/(response|error)$/.exec(request.url) ?? [];
  const result = JSON.parse(await text(request));
  if (outcome !== "response") console.error(request.url, result);
  const { statusCode, headers, body } = outcome === "response" ? result : { statusCode: 502, headers: {}, body: JSON.stringify(result) };
  invoked.get(id)?.writeHead(statusCode, headers).end(body);
  response.writeHead(202).end("{}");
}

const api = createServer(runtimeApi).listen(0, "127.0.0.1");
await once(api, "listening");
const env = {
  ...process.env,
  AWS_LAMBDA_RUNTIME_API: "127.0.0.1:" + api.address().port,
  _HANDLER: "app.handler",
  LAMBDA_TASK_ROOT: process.cwd(),
  AWS_LAMBDA_FUNCTION_NAME: "shop",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: "128",
  AWS_LAMBDA_FUNCTION_VERSION: "1",
  AWS_LAMBDA_LOG_GROUP_NAME: "shop",
  AWS_LAMBDA_LOG_STREAM_NAME: "shop",
};
const runtime = spawn("node_modules/.bin/aws-lambda-ric", [], { env, stdio: ["ignore", "inherit", "inherit"] });
runtime.once("exit", () => process.exit(1));
process.on("SIGTERM", () => {
  runtime.kill("SIGKILL");
  process.exit();
});
`,
  "invoke",
);

export const PLATFORMS: readonly Runtime[] = [
  {
    name: "AWS Lambda",
    packages: ["aws-lambda-ric@latest"],
    // It compiles its HTTP client, which takes minutes, and needs cmake, make and a C++ compiler.
    installScripts: true,
    files: {
      "app.mjs": `
import { serve } from "@inlet/sdk/lambda";
import { shop } from "./inlet.js";
export const handler = serve(shop());
`,
      "serve.js": LAMBDA,
    },
    serve: SERVE,
  },
  {
    name: "Cloudflare Workers",
    packages: ["wrangler@latest"],
    files: {
      "worker.js": `
import { serve } from "@inlet/sdk/cloudflare";
import { shop } from "./inlet.js";
export default serve((env) => shop(env));
`,
      "wrangler.json": JSON.stringify({ name: "shop", main: "worker.js", compatibility_date: "2025-06-01" }),
      "serve.js": `
import { unstable_startWorker as start } from "wrangler";
const bindings = { INLET_BASE_URL: { type: "plain_text", value: process.env.INLET_BASE_URL } };
const worker = await start({ config: "wrangler.json", bindings, dev: { server: { hostname: "127.0.0.1", port: 0 }, inspector: false, logLevel: "error" } });
console.log("port", (await worker.url).port);
process.on("SIGTERM", () => worker.dispose().then(() => process.exit()));
`,
    },
    serve: SERVE,
  },
];
