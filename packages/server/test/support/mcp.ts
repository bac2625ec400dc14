/** The official client of the Model Context Protocol, connected to a service under test. */

import type { TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onEnd } from "./on-end.ts";

export interface McpCall {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  value: any;
}

export interface McpClient {
  client: Client;
  call(name: string, args?: Record<string, unknown>): Promise<McpCall>;
}

/** A modern client speaks 2026-07-28; others begin with a handshake. */
export async function connectMcp(t: TestContext, url: string, apiKey: string | null, isModern = true): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1" }, isModern ? { versionNegotiation: { mode: "auto" } } : {});
  const headers = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  onEnd(t, () => client.close());
  return { client, call: (name, args) => callTool(client, name, args) };
}

export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}): Promise<McpCall> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [{ text }] = content as unknown as [{ text: string }];
  return { isError, text, value: JSON.parse(text) };
}
