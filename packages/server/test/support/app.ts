/** An app inside the test's process, with our SDK on a real socket, registered with a service under test. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { onEnd } from "./on-end.ts";
import { until as untilFound } from "./runs.ts";
import { EVENT_KEY, type ServiceClient, SIGNING_KEY } from "./service.ts";

export type AnyFunction = Parameters<typeof serve>[0]["functions"][number];

export interface TestApp {
  url: string;
  client: Inlet;
  /** Registers these functions instead. */
  replace(functions: AnyFunction[]): Promise<void>;
  /** It is gone: nothing listens there any more. */
  stop(): Promise<void>;
}

export interface AppOptions {
  id?: string;
  environment?: string;
  signingKey?: string;
  /** It accepts calls that are not signed, as those of a dev server. */
  isDev?: boolean;
}

/** `make` is given the client the functions are made with. */
export async function startApp(
  t: TestContext,
  service: ServiceClient,
  make: (client: Inlet) => AnyFunction[],
  { id = "shop", environment, signingKey = SIGNING_KEY, isDev = false }: AppOptions = {},
): Promise<TestApp> {
  const client = new Inlet({
    id,
    baseUrl: service.url,
    eventKey: EVENT_KEY,
    signingKey,
    isDev,
    ...(environment !== undefined && { env: environment }),
  });
  const keyed = signingKey === SIGNING_KEY ? undefined : environment;
  let handler = serve({ client, functions: make(client) });
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onEnd(t, stop);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inlet`;
  await sync(service, url, keyed);
  return {
    url,
    client,
    stop,
    async replace(functions) {
      handler = serve({ client, functions });
      await sync(service, url, keyed);
    },
  };
}

/**
 * Where it registers is for the app to say. An app with a key of its environment is asked to by that key. On a busy machine an app may not answer
 * within the service's time limit: it is asked again.
 */
async function sync(service: ServiceClient, url: string, keyed: string | undefined): Promise<void> {
  const headers = keyed === undefined ? {} : { "x-service-env": keyed };
  const { status, text } = await poll(async () => {
    const answer = await service.rest("POST", "/apps", { body: { url }, headers });
    return answer.body?.code === "app_unreachable" ? null : answer;
  }, "the app to answer");
  assert.equal(status, 201, text);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into runs of every shape
export type RunView = any;

/** The runs an event started, once all of them have ended (or are what `until` asks for). */
export async function runsOf(
  service: ServiceClient,
  eventId: string,
  { count = 1, until = hasEnded }: { count?: number; until?: (run: RunView) => boolean } = {},
): Promise<RunView[]> {
  return poll(async () => {
    const { body } = await service.rest("GET", `/events/${eventId}/runs`);
    const runs: RunView[] = body.data ?? [];
    if (runs.length < count || !runs.every(until)) return null;
    return Promise.all(runs.map(async ({ id }) => (await service.rest("GET", `/runs/${id}`)).body.data));
  }, `runs of ${eventId}`);
}

export function hasEnded({ status }: RunView): boolean {
  return ["completed", "failed", "cancelled"].includes(status);
}

export function poll<Value>(look: () => Promise<Value | null>, what: string, timeoutMs?: number): Promise<Value> {
  return untilFound(what, async () => (await look()) ?? undefined, timeoutMs);
}
