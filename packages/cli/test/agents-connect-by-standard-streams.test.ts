/** `inlet mcp` gives an agent on standard streams what `/mcp` gives by HTTP, with the connection of the command line. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { test as onBothStores } from "../../server/test/support/both-stores.ts";
import { callTool } from "../../server/test/support/mcp.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE } from "../../server/test/support/process.ts";
import { API_KEY, startTestService } from "../../server/test/support/service.ts";
import { workingFolder } from "./support/working-folder.ts";

interface Options {
  url: string;
  apiKey?: string;
  env?: string;
  isModern?: boolean;
}

async function connect(t: TestContext, { url, apiKey = API_KEY, env, isModern = true }: Options): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, isModern ? { versionNegotiation: { mode: "auto" } } : {});
  const variables = { ...BARE_ENVIRONMENT, INLET_BASE_URL: url, INLET_API_KEY: apiKey, ...(env !== undefined && { INLET_ENV: env }) };
  await client.connect(
    new StdioClientTransport({ command: INLET_NODE, args: [INLET_BIN, "mcp"], env: variables as Record<string, string>, stderr: "ignore" }),
  );
  onEnd(t, () => client.close());
  return client;
}

onBothStores("tools and pages are those of the service", async (t, store) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const viewer = (await service.rest("POST", "/keys", { body: { kind: "api", name: "agent", role: "viewer" } })).body.data;
  const { ids } = (await service.send({ name: "shop/a", data: { text: "\u007f\u0085\u2028" } })).body;
  for (const isModern of store === "sqlite" ? [true, false] : [true]) {
    const client = await connect(t, { url: service.url, apiKey: viewer.key, isModern });
    assert.equal(client.getNegotiatedProtocolVersion(), isModern ? "2026-07-28" : "2025-11-25");
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes("events_read") && names.includes("explain_run") && !names.includes("runs_write"));
    const { value } = await callTool(client, "events_read", { id: ids[0] });
    assert.deepEqual(value.data.data, { text: "\u007f\u0085\u2028" });
    assert.equal((await callTool(client, "runs_read", { id: "none" })).value.code, "run_not_found");
    await assert.rejects(client.callTool({ name: "none", arguments: {} }), /There is no tool/);
    assert.ok((await client.listResources()).resources.length > 50);
    const page = await client.readResource({ uri: "inlet://docs/errors/run_ended" });
    assert.match((page.contents[0] as { text: string }).text, /# run_ended/);
  }
  const { body } = await service.rest("GET", `/audit-log?actor=${viewer.id}&action=tool.called`);
  assert.deepEqual(body.data.map(({ target }: { target: { id: string } }) => target.id).slice(0, 2), ["runs_read", "events_read"]);
});

test("a refused key, an environment of its own, and a service that is away", async (t) => {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  await service.send({ name: "shop/a", data: {} });
  const refused = await callTool(await connect(t, { url: service.url, apiKey: "wrong" }), "events_read");
  assert.deepEqual([refused.isError, refused.value.code], [true, "api_key_invalid"]);
  const staging = await connect(t, { url: service.url, env: "staging" });
  assert.deepEqual((await callTool(staging, "events_read")).value.data, []);
  assert.equal((await callTool(staging, "events_read", { environment: "production" })).value.data.length, 1);
  const away = await connect(t, { url: "http://127.0.0.1:1" });
  await assert.rejects(away.callTool({ name: "events_read", arguments: {} }), /The service at http:\/\/127.0.0.1:1 cannot be reached/);
});

test("it ends with its standard input, when everything asked was answered", async (t) => {
  const service = await startTestService(t);
  const place = workingFolder(t, { INLET_BASE_URL: service.url, INLET_API_KEY: API_KEY });
  const clientInfo = { name: "script", version: "1" };
  const initialize = { method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } };
  const call = { method: "tools/call", params: { name: "events_read", arguments: {} } };
  const line = (message: object, id: number) => JSON.stringify({ jsonrpc: "2.0", id, ...message });
  const { code, stdout } = await place.inlet(["mcp"], [line(initialize, 1), line(call, 2), line(call, 3)].join("\n"));
  assert.equal(code, 0, stdout);
  const ids = stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text).id);
  assert.deepEqual(ids.sort(), [1, 2, 3]);
  assert.equal((await place.inlet(["mcp"], "")).code, 0);
});

test("a message that is too large ends it with a sentence", async (t) => {
  const { code, stderr } = await workingFolder(t).inlet(["mcp"], `"${"x".repeat(11_000_000)}"\n`);
  assert.deepEqual([code, stderr], [0, "ReadBuffer exceeded maximum size of 10485760 bytes\n"]);
});
