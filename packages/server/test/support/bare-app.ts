/** An app without an SDK: the test sees every call, and answers when and how it wants to. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";
import { until } from "./runs.ts";
import { call } from "./service.ts";

export interface AppCall {
  runId: string;
  attempt: number;
  /** Names this call when results are handed in while it goes on. */
  dispatch: string;
  /** The ids of the steps whose results came with it. */
  done: string[];
  /** The step was run, as an SDK says it. Resolves when the response is on its way. */
  ranStep(id: string, data?: string): Promise<void>;
  /** A step that the service has to do. */
  asks(op: "Sleep" | "WaitForEvent" | "WaitForSignal" | "WaitForApproval" | "Gateway", id: string, opts: object): Promise<void>;
  finish(output: unknown): Promise<void>;
  fail(status: number): Promise<void>;
}

const WAIT_MS = 300_000;
const SDK = { "x-inngest-sdk": "bare", "x-inngest-req-version": "1", "content-type": "application/json" };

export class BareApp {
  readonly #server: Server;
  readonly #waiting: AppCall[] = [];
  #arrived: () => void = () => undefined;
  /** How many calls came in all. */
  calls = 0;
  /** Told of each call, and its run, as soon as it has come. */
  onCall: (runId: string) => void = () => undefined;

  constructor() {
    this.#server = createServer(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(404).end();
      const body = await bodyOf(request);
      if (body === null) return;
      const { ctx, steps } = JSON.parse(body);
      const answer = (status: number, body: unknown) =>
        new Promise<void>((resolve) => {
          // Nobody gets it if the service was killed.
          if (response.destroyed) return resolve();
          response.once("close", resolve);
          response.writeHead(status, SDK).end(JSON.stringify(body), () => resolve());
        });
      this.calls++;
      this.onCall(ctx.run_id);
      this.#waiting.push({
        runId: ctx.run_id,
        attempt: ctx.attempt,
        dispatch: ctx.qi_id,
        done: Object.keys(steps),
        ranStep: (id, data = `${id} is done`) => answer(206, [{ op: "StepRun", id, name: id, displayName: id, data }]),
        asks: (op, id, opts) => answer(206, [{ op, id, name: id, displayName: id, opts }]),
        finish: (output) => answer(200, output),
        fail: (status) => answer(status, { name: "Error", message: "not now" }),
      });
      this.#arrived();
    });
  }

  get #url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** How many calls came that were not looked at yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Once the service was killed: all that it sent has arrived, so that nothing of it comes between the calls of the next one. */
  async connectionsEnded(): Promise<void> {
    // Connections are accepted in their order: those of the service were before this one.
    await once(get(this.#url, { agent: false }).end(), "close");
    const open = () => new Promise<number>((resolve) => this.#server.getConnections((_error, count) => resolve(count)));
    await until("the end of all connections", async () => ((await open()) === 0 ? true : undefined));
  }

  static async start(t: TestContext): Promise<BareApp> {
    const app = new BareApp();
    app.#server.listen(0, "127.0.0.1");
    await once(app.#server, "listening");
    onEnd(t, () => {
      app.#server.closeAllConnections();
      app.#server.close();
    });
    return app;
  }

  /** Registers one function, started by `bare/begin`. */
  async register(inletUrl: string, headers: Record<string, string> = {}): Promise<void> {
    const url = this.#url;
    const runtime = { type: "http", url };
    const step = { id: "step", name: "step", runtime, retries: { attempts: 3 } };
    const functions = [{ id: "bare-function", name: "function", triggers: [{ event: "bare/begin" }], steps: { step } }];
    const body = JSON.stringify({ appName: "bare", url, functions, sdk: "bare", framework: "none", v: "0.1" });
    const { status, text } = await call(`${inletUrl}/fn/register`, { method: "POST", body, headers: { ...SDK, ...headers } });
    assert.equal(status, 200, text);
  }

  /** The next call that came and was not looked at yet, of any run or of this one. */
  async next(runId?: string): Promise<AppCall> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const index = this.#waiting.findIndex((call) => runId === undefined || call.runId === runId);
      const [found] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (found) return found;
      const arrived = new Promise<void>((resolve) => (this.#arrived = resolve));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        // A test that has ended without this call does not keep its process.
        timer = setTimeout(() => reject(new Error("no call came")), deadline - Date.now()).unref();
      });
      await Promise.race([arrived, late]).finally(() => clearTimeout(timer));
    }
  }
}

/** Null: whoever sent it died before its end. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  try {
    return Buffer.concat((await request.toArray()) as Buffer[]).toString();
  } catch {
    return null;
  }
}
