/**
 * The Model Context Protocol, as the official SDK speaks it: tools and resources for one caller. It loads the SDK, and
 * is itself loaded with the first request.
 */

import {
  type CallToolResult,
  createMcpHandler,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import type { Resource } from "./doc-resources.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import type { Arguments, Tool, ToolResponse } from "./tool.ts";

/** What a caller can do. */
export interface McpCaller {
  tools: readonly Tool[];
  call(tool: Tool, args: Arguments): Promise<ToolResponse>;
  resources(): Promise<Resource[]>;
  /** Null if there is none of that URI. */
  resourceText(uri: string): Promise<string | null>;
}

export interface McpSettings {
  version: string;
  onError(error: Error): void;
}

/** Answers one request. Nothing is kept between requests. */
export function answerMcp(caller: McpCaller, { version, onError }: McpSettings, request: Request): Promise<Response> {
  const handler = createMcpHandler(() => serverFor(caller, version), {
    onerror: onError,
    // Tools and pages do not change while the service runs: there is nothing to subscribe to.
    maxSubscriptions: 0,
  });
  return handler.fetch(request);
}

function serverFor(caller: McpCaller, version: string): Server {
  const server = new Server(
    { name: "inlet", title: "Inlet", version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", () => ({ tools: caller.tools.map(listed) }));
  server.setRequestHandler("tools/call", ({ params }) => callNamed(caller, params.name, params.arguments ?? {}));
  server.setRequestHandler("resources/list", async () => ({ resources: await caller.resources() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const text = await caller.resourceText(uri);
    if (text === null) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: "text/markdown", text }] };
  });
  return server;
}

function listed({ name, description, inputSchema, annotations }: Tool): ListedTool {
  // A route's schema is JSON, which its type does not say.
  return { name, description, inputSchema: inputSchema as unknown as ListedTool["inputSchema"], annotations };
}

async function callNamed(caller: McpCaller, name: string, args: Arguments): Promise<CallToolResult> {
  const tool = caller.tools.find((known) => known.name === name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name.slice(0, 100)}".`);
  const { isError, text } = await caller.call(tool, args);
  return { content: [{ type: "text", text }], isError };
}
