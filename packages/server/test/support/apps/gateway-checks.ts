/** step.fetch, step.ai.infer and step.ai.wrap, as the published SDKs ask for them. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Checks } from "./running-sdk.ts";

const USAGE = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };

/** Answers with what it was asked. */
async function withEcho(work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      response.writeHead(method === "PUT" ? 418 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify({ method, url, trace: headers["x-trace"], authorization: headers.authorization, body, usage: USAGE }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

export const GATEWAY_CHECKS: Checks = {
  async "the service makes the request of step.fetch, and the function gets the response"({ run }) {
    await withEcho(async (url) => {
      const { run: ended } = await run("fetcher", { url: `${url}/rates` });
      assert.equal(ended.status, "completed", JSON.stringify(ended));
      const { status, echoed } = ended.output;
      assert.deepEqual([status, echoed.method, echoed.url, echoed.trace, echoed.body], [418, "PUT", "/rates", "1", "sent"]);
      assert.equal(ended.steps?.[0].kind, "fetch");
    });
  },
  async "the service asks the provider for step.ai.infer; keys are shown to nobody, tokens are counted"({ run }) {
    await withEcho(async (url) => {
      const { run: ended } = await run("inferrer", { url });
      assert.equal(ended.status, "completed", JSON.stringify(ended));
      const { answer, wrapped } = ended.output;
      assert.deepEqual([answer.url, answer.authorization, wrapped], ["/chat/completions", "Bearer sk-secret", "hello world"]);
      assert.deepEqual(JSON.parse(answer.body), { model: "small", messages: [{ role: "user", content: "hello" }] });
      const [infer, wrap] = ended.steps ?? [];
      assert.deepEqual([infer.kind, infer.tokens, wrap.kind], ["infer", { input: 2, output: 3, total: 5 }, "wrap"]);
      const shown = JSON.stringify([infer.request, (ended as { calls?: unknown }).calls]).replaceAll("Bearer sk-secret", "");
      assert.ok(!shown.includes("sk-secret"), shown);
    });
  },
};
