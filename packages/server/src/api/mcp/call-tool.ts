/**
 * Calls tools. A call is a request to the REST API with the key of the caller: role, environments and limits are checked there, by
 * the same code, and the response is that of the route.
 *
 * Every call is in the audit log, whatever its outcome.
 */

import { ENVIRONMENT_HEADER, environmentNamed, errorBody, Refusal } from "@inlet/protocol";
import type { FastifyError, FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { chooseEnvironment } from "../access/request-environment.ts";
import type { AccessRules } from "../access/rest-access.ts";
import { type OwnAddressRules, ownAddress } from "../own-address.ts";
import { invalid, refusalFor } from "../rest-errors.ts";
import { RefusedResponse } from "./ask.ts";
import { cutError, cutWhole, sendCut } from "./cut-response.ts";
import type { Arguments, Tool, ToolResponse } from "./tool.ts";
import { chooseRoute, environmentHeader, type RestRequest, restRequest, segment } from "./tool-request.ts";

export interface CallToolParts {
  app: Pick<FastifyInstance, "inject">;
  access: AccessRules;
  audit: AuditTrail;
  address: OwnAddressRules;
  log: Logger;
}

const PASSED_ON = ["authorization", "x-forwarded-for", "x-forwarded-proto"] as const;

export const TOOL_CALLED = "tool.called";

export async function callTool(parts: CallToolParts, request: FastifyRequest, tool: Tool, args: Arguments): Promise<ToolResponse> {
  const response = await answerOf(parts, request, tool, args);
  const { code } = response.isError ? (JSON.parse(response.text) as { code: string }) : { code: null };
  await parts.audit.note(request, {
    action: TOOL_CALLED,
    target: { kind: "tool", id: tool.name, name: tool.name },
    environment: environmentOfCall(parts.access, request, args),
    details: { ...namesIn(args), ...(code !== null && { refused: code }) },
  });
  return response;
}

async function answerOf(parts: CallToolParts, request: FastifyRequest, tool: Tool, args: Arguments): Promise<ToolResponse> {
  try {
    if (tool.explain) return await explained(parts, request, tool.explain, args);
    const route = chooseRoute(tool, args);
    const send = (changed: Arguments) => inject(parts, request, restRequest(tool, route, changed));
    if (route.method === "GET") return await sendCut(route, args, send);
    const response = await send(args);
    return response.isError ? cutError(response) : cutWhole(response, null);
  } catch (error) {
    if (error instanceof RefusedResponse) return error.response;
    const refused = refusalFor(error as FastifyError);
    if (refused.code === "internal_error") parts.log.error({ err: error, tool: tool.name }, "a tool call failed unexpectedly");
    return cutError({ isError: true, text: errorBody(refused) });
  }
}

async function explained(
  parts: CallToolParts,
  request: FastifyRequest,
  explain: NonNullable<Tool["explain"]>,
  { id, environment, cursor, ...others }: Arguments,
): Promise<ToolResponse> {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(unknown, "is not a known parameter or field: check its spelling");
  const headers = environmentHeader(environment);
  const ask = async <Body>(path: string): Promise<Body> => {
    const response = await inject(parts, request, { method: "GET", url: `/v1${path}`, headers });
    if (response.isError) throw new RefusedResponse(response);
    return JSON.parse(response.text) as Body;
  };
  const data = await explain(ask, segment("id", id));
  return cutWhole({ isError: false, text: JSON.stringify({ data }) }, typeof cursor === "string" ? cursor : null);
}

/**
 * With the caller's credentials, and its address as the connection and proxies give it: the REST API checks them again. The host is the
 * one that URLs of webhooks begin with for this caller.
 */
export async function inject(
  { app, address }: CallToolParts,
  request: FastifyRequest,
  { headers, body, method, url }: RestRequest,
): Promise<ToolResponse> {
  const environment = environmentNamed(request.headers);
  const passed = PASSED_ON.map((name) => [name, request.headers[name]]).filter(([, value]) => value !== undefined);
  const { statusCode, payload } = await app.inject({
    method,
    url,
    remoteAddress: request.socket.remoteAddress ?? "",
    headers: {
      ...Object.fromEntries(passed),
      host: new URL(ownAddress(address, request)).host,
      ...(environment !== null && { [ENVIRONMENT_HEADER]: environment }),
      ...headers,
    },
    ...(body !== undefined && { payload: body }),
  });
  return { isError: statusCode >= 400, text: payload };
}

/** Where admins of an environment see the call: in the one that it is for, if the caller may use it. */
function environmentOfCall({ directory, defaultEnvironment }: AccessRules, request: FastifyRequest, args: Arguments): string | null {
  const named = args.environment ?? environmentNamed(request.headers);
  if (named !== null && typeof named !== "string") return null;
  const chosen = chooseEnvironment(directory, principalOf(request), { named, defaultEnvironment });
  return chosen instanceof Refusal ? null : (chosen.known?.name ?? null);
}

/** Which object and what of it. Other arguments may hold payloads. */
function namesIn({ id, part, action }: Arguments): Record<string, string> {
  const named = Object.entries({ id, part, action }).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(named.map(([name, value]) => [name, value.slice(0, 200)]));
}
