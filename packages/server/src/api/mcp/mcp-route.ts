/**
 * `/mcp`: the Model Context Protocol over streamable HTTP, without sessions.
 *
 * A request needs an API key; cookies are not read, so no page of another site can use those of a person. On a dev server it is open, and
 * pages of other sites are refused before every route.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DEV_PRINCIPAL } from "../access/principal.ts";
import { principalWithKey } from "../access/rest-access.ts";
import { registerNoStore } from "../access/security-headers.ts";
import type { Documentation } from "../docs/documentation.ts";
import { onceClosed } from "../once-closed.ts";
import type { DocumentedRoute } from "../open-api.ts";
import { RestRefusal } from "../rest-errors.ts";
import { type CallToolParts, callTool } from "./call-tool.ts";
import { docResources, docText } from "./doc-resources.ts";
import { EXPLAIN_TOOLS } from "./explain.ts";
import type { McpCaller } from "./mcp-server.ts";
import { routeTools, type ToolsMode } from "./route-tools.ts";
import type { Tool } from "./tool.ts";

export interface McpRouteParts extends Omit<CallToolParts, "app"> {
  mode: ToolsMode | "off";
  /** Those of the REST API; complete once the service listens. */
  routes: readonly DocumentedRoute[];
  documentation(): Promise<Documentation>;
  /** Of the program. */
  version: string;
}

/** Revisions before 2025-06-18 allow several messages in a request. Each may cost as much as a request. */
export const BATCH_MESSAGES_MAX = 20;
/** The headers that the protocol defines. Credentials stay here. */
const HEADERS = /^(?:accept|content-type|mcp-[\w-]+)$/;

export function registerMcpRoute(app: FastifyInstance, parts: McpRouteParts): void {
  const { mode, access } = parts;
  if (mode === "off") return;
  let tools: readonly Tool[] | null = null;
  const allTools = () => {
    tools ??= [...EXPLAIN_TOOLS, ...routeTools(parts.routes, mode)];
    return tools;
  };
  app.register(async (scope) => {
    registerNoStore(scope);
    scope.decorateRequest("principal", null);
    scope.addHook("onRequest", async (request) => {
      request.principal = access.open ? DEV_PRINCIPAL : principalWithKey(access, request, request.headers.authorization);
    });
    // The SDK reads bodies: it answers for those that are not JSON, too.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.route({
      method: ["POST", "GET", "DELETE"],
      url: "/mcp",
      handler: (request, reply) => answer(parts, callerOf({ ...parts, app }, request, allTools()), request, reply),
    });
  });
}

function callerOf(parts: McpRouteParts & CallToolParts, request: FastifyRequest, tools: readonly Tool[]): McpCaller {
  return {
    tools,
    call: (tool, args) => callTool(parts, request, tool, args),
    resources: async () => docResources(await parts.documentation()),
    resourceText: async (uri) => docText(await parts.documentation(), uri),
  };
}

async function answer({ version, log }: McpRouteParts, caller: McpCaller, request: FastifyRequest, reply: FastifyReply) {
  const body = (request.body as string | undefined) ?? "";
  if (messageCount(body) > BATCH_MESSAGES_MAX)
    throw new RestRefusal("request_invalid", `A request has at most ${BATCH_MESSAGES_MAX} messages.`);
  const { answerMcp } = await import("./mcp-server.ts");
  const onError = (error: Error) => log.debug({ err: error }, "an MCP request was refused");
  const response = await answerMcp(caller, { version, onError }, webRequest(request, reply, body));
  const text = await response.text();
  reply.code(response.status).type(response.headers.get("content-type") ?? "application/json");
  return reply.send(text === "" ? undefined : text);
}

function messageCount(body: string): number {
  if (!body.trimStart().startsWith("[")) return 1;
  try {
    return (JSON.parse(body) as unknown[]).length;
  } catch {
    return 1;
  }
}

function webRequest(request: FastifyRequest, reply: FastifyReply, body: string): Request {
  const gone = new AbortController();
  onceClosed(reply.raw, () => gone.abort());
  const headers = Object.entries(request.headers).filter(
    (entry): entry is [string, string] => HEADERS.test(entry[0]) && typeof entry[1] === "string",
  );
  const { method } = request;
  // The host plays no role: the guard of a dev server has seen the real one.
  return new Request("http://inlet/mcp", { method, headers, signal: gone.signal, ...(method === "POST" && { body }) });
}
