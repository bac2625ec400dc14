/** PUT: registers this app's functions with the service, and reports the result. */

import { registrationOf } from "../functions/registration.ts";
import { SDK_NAME } from "../version.ts";
import { HEADER } from "../wire/headers.ts";
import { type AppRequest, type AppResponse, errorResponse, jsonResponse, queryOf } from "./app-request.ts";
import { askService } from "./ask-service.ts";
import type { ServedApp } from "./served-app.ts";

export async function register(
  app: ServedApp,
  request: AppRequest,
  { body, isTrusted }: { body: unknown; isTrusted: boolean },
): Promise<AppResponse> {
  const url = appUrl(app, request, isTrusted ? body : undefined);
  if (url === undefined) return errorResponse(400, "url_unknown", "The address of this app is not known. Set serveOrigin");
  const deployId = queryOf(request.url).get("deployId");
  const kind = request.header(HEADER.serverKind);
  let response: { status: number; text: string };
  try {
    response = await askService(app.settings, {
      method: "POST",
      path: `/fn/register${deployId ? `?deployId=${encodeURIComponent(deployId)}` : ""}`,
      body: JSON.stringify(registrationBody(app, url, deployId)),
      headers: { [HEADER.syncKind]: "out_of_band", ...(kind ? { [HEADER.expectedServerKind]: kind } : {}) },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return errorResponse(502, "service_unreachable", `The service at ${app.settings.baseUrl} could not be reached: ${reason}`);
  }
  return report(app, url, response);
}

function registrationBody(app: ServedApp, url: string, deployId: string | null): Record<string, unknown> {
  return {
    url,
    deployType: "ping",
    framework: app.framework,
    appName: app.client.id,
    sdk: SDK_NAME,
    v: "0.1",
    functions: app.functions.flatMap((fn) => registrationOf({ ...fn, client: app.client }, url)),
    capabilities: {},
    ...(deployId ? { deployId } : {}),
  };
}

function report(app: ServedApp, url: string, { status, text }: { status: number; text: string }): AppResponse {
  const reply = parse(text);
  if (status >= 200 && status < 300) {
    const modified = reply?.modified === true;
    const message = modified ? "Registered" : "Already registered, nothing has changed";
    return jsonResponse(200, JSON.stringify({ message, modified, url, functions: app.byId.size }));
  }
  const reason = typeof reply?.error === "string" ? reply.error : text.slice(0, 200);
  const code = typeof reply?.code === "string" ? reply.code : "registration_refused";
  return errorResponse(status, code, `The service refused the registration: ${reason || status}`);
}

/**
 * The URL to register: the configured one, otherwise the one that the service says it used, otherwise that of this request.
 * Unsigned requests are not trusted: they could redirect the app's calls, and so its events.
 */
function appUrl({ serveOrigin, servePath }: ServedApp, request: AppRequest, body: unknown): string | undefined {
  const said = typeof body === "object" && body !== null && "url" in body ? body.url : undefined;
  const origin = serveOrigin ?? request.origin();
  const seen =
    typeof said === "string" && URL.canParse(said)
      ? said
      : URL.canParse(request.url)
        ? request.url
        : origin && new URL(request.url, origin).href;
  if (!seen) return undefined;
  const url = new URL(seen);
  const base = serveOrigin === undefined ? url.origin : serveOrigin.replace(/\/+$/, "");
  const result = new URL(base + (servePath ?? url.pathname));
  for (const [name, value] of url.searchParams) if (!OWN_PARAMETERS.has(name)) result.searchParams.append(name, value);
  return result.href;
}

const OWN_PARAMETERS = new Set(["fnId", "stepId", "deployId", "probe"]);

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}
