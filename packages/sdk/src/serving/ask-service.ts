/** Requests to the service, authenticated with the signing key; during rotation, the previous one is tried too. */

import type { Settings } from "../client/settings.ts";
import { SDK_NAME } from "../version.ts";
import { HEADER } from "../wire/headers.ts";
import { bearerToken } from "../wire/signing.ts";

const TIMEOUT_MS = 30_000;

export interface ServiceRequest {
  method: "GET" | "POST";
  path: string;
  body?: string;
  headers?: Record<string, string>;
}

export async function askService(settings: Settings, request: ServiceRequest): Promise<{ status: number; text: string }> {
  if (!settings.baseUrl)
    throw new Error(
      "The address of the service is not set. Set INLET_BASE_URL or pass baseUrl; with a local dev server set INLET_DEV=1 instead",
    );
  const keys = settings.signingKeys;
  let response = await ask(settings, request, keys[0]);
  for (const key of keys.slice(1)) {
    if (response.status !== 401) break;
    response = await ask(settings, request, key);
  }
  return response;
}

async function ask(
  settings: Settings,
  { method, path, body, headers }: ServiceRequest,
  key: string | undefined,
): Promise<{ status: number; text: string }> {
  const all: Record<string, string> = { [HEADER.sdk]: SDK_NAME, ...headers };
  if (body !== undefined) all["content-type"] = "application/json";
  if (key !== undefined) all.authorization = `Bearer ${await bearerToken(key)}`;
  return settings.environment.ask(async (environment) => {
    const init = {
      method,
      headers: { ...all, ...environment },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body }),
    };
    const response = await settings.fetch(`${settings.baseUrl}${path}`, init);
    return { status: response.status, text: await response.text() };
  });
}
