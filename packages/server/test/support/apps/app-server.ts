/** An app of a user: a server of its own on a free port, registered with the service, gone after the test. */

import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "../on-end.ts";
import { until } from "../runs.ts";
import type { TestService } from "../service.ts";

const KEEP_ALIVE_MS = 3_600_000;
const STORE_IS_BUSY = "The store is not available";

export interface RunningApp {
  url: string;
  server: Server;
  stop(): Promise<void>;
}

/** Serves the listener under /api/inngest. */
export async function serveApp(t: TestContext, listener: RequestListener, port = 0): Promise<RunningApp> {
  // Longer than any test: a connection is not closed at the moment when the service uses it again.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  onEnd(t, stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`, server, stop };
}

/** Asks the service to sync the app, again while its store is too busy; returns it as the service shows it. */
export async function syncApp(service: TestService, url: string, headers: Record<string, string> = {}) {
  return until("the app is synced", async () => {
    const { status, body } = await service.rest("POST", "/apps", { body: { url }, headers });
    if (status === 201) return body.data;
    assert.ok(body.error.includes(STORE_IS_BUSY), `${status} ${JSON.stringify(body)}`);
    return undefined;
  });
}
