/** GET: describes this endpoint, for people and for the service's discovery. Never contains a secret; function names require authentication. */

import { SDK_NAME } from "../version.ts";
import { type AppResponse, jsonResponse } from "./app-request.ts";
import type { ServedApp } from "./served-app.ts";

export function introspect({ client, settings, byId, framework }: ServedApp, { isTrusted }: { isTrusted: boolean }): AppResponse {
  const summary = {
    message: "An Inlet app. The service calls it with POST; PUT registers its functions.",
    app: client.id,
    sdk: SDK_NAME,
    framework,
    mode: settings.isDev ? "dev" : "production",
    functionCount: byId.size,
    hasEventKey: settings.eventKey !== undefined,
    hasSigningKey: settings.signingKeys.length > 0,
    hasSigningKeyFallback: settings.signingKeys.length > 1,
    ...(isTrusted
      ? { baseUrl: settings.baseUrl ?? null, environment: settings.environment.name ?? null, functions: [...byId.keys()] }
      : {}),
  };
  return jsonResponse(200, JSON.stringify(summary));
}
