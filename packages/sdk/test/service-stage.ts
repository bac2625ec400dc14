/** The service and an app with its functions, for tests of both together. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Inlet, type InletFunction, type Middleware } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { EVENT_KEY, startTestService, type TestService } from "../../server/test/support/service.ts";
import { listen } from "./listen.ts";
import { quiet } from "./test-app.ts";

export const KEY = `signkey-prod-${"0a".repeat(32)}`;
export const PREVIOUS = `signkey-prod-${"0b".repeat(32)}`;
const DEADLINE_MS = 300_000;

export type Mode = "dev" | "start";

export interface Ended {
  id: string;
  status: string;
  output: unknown;
  error: { name: string; message: string } | null;
  steps: { name: string; status: string }[];
}

export interface Stage {
  service: TestService;
  inlet: Inlet;
  /** Serves functions and has them registered. */
  open(...functions: InletFunction[]): Promise<void>;
  /** The run of a function, once it has ended. */
  ended(fn: InletFunction, eventId?: string): Promise<Ended>;
}

export async function setStage(t: TestContext, mode: Mode, middleware: readonly Middleware[] = []): Promise<Stage> {
  const service = await startTestService(t, {
    mode,
    flags: ["--retry-interval", "20ms", ...(mode === "start" ? ["--signing-key", KEY] : [])],
  });
  const keys = { eventKey: EVENT_KEY, signingKey: PREVIOUS, signingKeyFallback: KEY };
  const inlet = new Inlet({
    id: "shop",
    isDev: mode === "dev",
    baseUrl: service.url,
    logger: quiet,
    middleware,
    ...(mode === "start" ? keys : {}),
  });
  return {
    service,
    inlet,
    async open(...functions) {
      const url = `${await listen(t, serve({ client: inlet, functions }))}/api/inlet`;
      const { status, text } = await service.rest("POST", "/apps", { body: { url } });
      assert(status < 300, text);
    },
    async ended(fn, eventId) {
      for (const deadline = Date.now() + DEADLINE_MS; ; ) {
        const { body } = await service.rest("GET", `/runs?function=${fn.client.id}-${fn.id}`);
        const runs = body.data as { id: string; endedAt: string | null; event?: { id: string } }[];
        const done = runs.find(({ endedAt, event }) => endedAt !== null && (!eventId || event?.id === eventId));
        if (done) return (await service.rest("GET", `/runs/${done.id}`)).body.data as Ended;
        assert(Date.now() < deadline, `no run of ${fn.id} has ended: ${JSON.stringify(runs)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
