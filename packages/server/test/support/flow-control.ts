/** Functions of the published SDK with settings for flow control, and a gate that holds their calls. */

import type { TestContext } from "node:test";
import { serveApp, syncApp } from "./apps/app-server.ts";
import type { Client, Context, Handler, SentEvent } from "./apps/published-sdk.ts";
import { V4 } from "./apps/sdk-v4.ts";
import { isEnded, runsOfFunction, type ShownRun, until } from "./runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "./service.ts";

/** Lets calls in, counts them, and holds them until the test lets them go. */
export class Gate {
  readonly order: string[] = [];
  most = 0;
  #inside: (() => void)[] = [];
  #isOpen = false;

  async pass(name: string): Promise<void> {
    this.order.push(name);
    if (this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#inside.push(resolve);
      this.most = Math.max(this.most, this.#inside.length);
    });
  }

  get inside(): number {
    return this.#inside.length;
  }

  /** Waits until so many are held. */
  full(count: number): Promise<true> {
    return until(`${count} calls at the gate`, () => (this.inside >= count ? (true as const) : undefined));
  }

  letOneGo(): void {
    this.#inside.shift()?.();
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#inside.splice(0)) go();
  }
}

export interface Setup {
  service: TestService;
  client: Client;
  send(data: object | object[], name?: string): Promise<string[]>;
  runs(): Promise<ShownRun[]>;
  /** Waits until so many runs have ended, and returns all. */
  ended(count: number): Promise<ShownRun[]>;
}

/** One function `fn` with these settings, started by app/go. */
export async function setUp(t: TestContext, options: Record<string, unknown>, handler: Handler): Promise<Setup> {
  return setUpMany(t, [{ id: "fn", options, handler }]);
}

export interface TestFunction {
  id: string;
  options: Record<string, unknown>;
  handler: Handler;
}

export async function setUpMany(t: TestContext, functions: TestFunction[]): Promise<Setup> {
  const service = await startTestService(t, { mode: "dev", flags: ["--retry-interval", "20ms"] });
  const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
  await deploy(t, service, client, functions);
  const runs = () => runsOfFunction(service, "app-fn");
  return {
    service,
    client,
    async send(data, name = "app/go") {
      const events = (Array.isArray(data) ? data : [data]).map((one): SentEvent => ({ name, data: one }));
      return (await client.send(events)).ids;
    },
    runs,
    ended: (count) =>
      until(`${count} ended runs`, async () => {
        const found = await runs();
        return found.filter(isEnded).length >= count ? found : undefined;
      }),
  };
}

/** Serves the app with these functions, and registers it; again, if it was. */
export async function deploy(t: TestContext, service: TestService, client: Client, functions: TestFunction[]): Promise<void> {
  const served = functions.map(({ id, options, handler }) => client.createFunction({ id, ...options }, [{ event: "app/go" }], handler));
  const app = await serveApp(t, V4.listener(client, served));
  await syncApp(service, app.url);
}

export const numbered = (count: number, more: object = {}) => Array.from({ length: count }, (_, n) => ({ n, ...more }));
export const held =
  (gate: Gate) =>
  async ({ event }: Context) => {
    await gate.pass(`${event.data.key ?? ""}${event.data.n ?? ""}`);
  };
