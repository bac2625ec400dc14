/** Where events, checkpoints, signals and registrations arrive at a process. */

import { errorBody, Refusal, type RunId } from "@inlet/protocol";
import { DEV_PRINCIPAL } from "../../src/api/access/principal.ts";
import type { EventLife } from "../../src/flows/event-life.ts";
import type { Functions } from "../../src/service/functions.ts";
import { type Environment, StoreUnavailable } from "../../src/store/contract/index.ts";
import type { EdgeResponse } from "./apps/own-app.ts";
import { now } from "./virtual-time.ts";

/** Apps of the simulation have no keys. */
const EVERYWHERE = () => true;
const ANY_AMOUNT = { take: () => true, give: () => undefined, isFor: () => true };

export class Edge {
  readonly #functions: Functions;
  readonly #eventLife: EventLife;
  /** Null: the default one. */
  readonly #environment: (name: string | null) => Environment;

  constructor(functions: Functions, eventLife: EventLife, environment: (name: string | null) => Environment) {
    this.#functions = functions;
    this.#eventLife = eventLife;
    this.#environment = environment;
  }

  async answerTo(path: string, headers: Record<string, string>, body: string): Promise<EdgeResponse> {
    const checkpoint = /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(path);
    if (checkpoint) {
      const outcome = await this.#functions.sdk.checkpoint(checkpoint[1] as RunId, body, EVERYWHERE);
      return said(outcome instanceof Refusal ? outcome : null, "{}");
    }
    if (path === "/v1/signals") return this.#signal(JSON.parse(body) as { signal: string; data: unknown });
    const state = /^\/v0\/runs\/([^/]+)\/(batch|actions)$/.exec(path);
    if (state) return this.#state(state[1] as RunId, state[2] as "batch" | "actions");
    if (path.startsWith("/fn/register"))
      return this.#register(body, headers["x-simulated-sdk"] ?? "service", headers["x-service-env"] ?? null);
    const keyText = path.slice("/e/".length);
    const readBody = async () => Buffer.from(body);
    const request = {
      method: "POST",
      target: path,
      keyText,
      query: "",
      headers,
      rawHeaders: Object.entries(headers).flat(),
      ip: "127.0.0.1",
      readBody,
      memory: ANY_AMOUNT,
    };
    const outcome = await this.#eventLife(request);
    if (typeof outcome === "symbol") throw new Error("a send was aborted");
    if ("handshake" in outcome) throw new Error("a send was taken for a handshake");
    return outcome instanceof Refusal ? said(outcome, "") : said(null, JSON.stringify({ ids: outcome.ids, status: 200 }));
  }

  async #signal({ signal, data }: { signal: string; data: unknown }): Promise<EdgeResponse> {
    try {
      const runId = await this.#functions.signals.send(this.#environment(null), signal, JSON.stringify(data));
      if (runId === null) return said(new Refusal("signal_not_found", "No run waits for it."), "");
      return said(null, JSON.stringify({ data: { run_id: runId } }));
    } catch (error) {
      if (error instanceof StoreUnavailable) return said(new Refusal("store_unavailable", error.message), "");
      throw error;
    }
  }

  /** What a call could not carry. */
  async #state(id: RunId, part: "batch" | "actions"): Promise<EdgeResponse> {
    const { runEvents, runSteps } = this.#functions.sdk;
    const text = await (part === "batch" ? runEvents(id, EVERYWHERE) : runSteps(id, EVERYWHERE));
    return text === null ? said(new Refusal("run_state_gone", "It has ended."), "") : said(null, text);
  }

  async #register(body: string, sdk: string, home: string | null): Promise<EdgeResponse> {
    const registration = { headers: sdk as "service" | "inngest", body: JSON.parse(body) as unknown, sdk, framework: null, deployId: null };
    const environmentName = this.#environment(home).name;
    const outcome = await this.#functions.sdk.register({ principal: DEV_PRINCIPAL, environmentName, mustExist: true, ...registration });
    if ("handshake" in outcome) throw new Error("a send was taken for a handshake");
    return outcome instanceof Refusal ? said(outcome, "") : said(null, JSON.stringify({ ok: true, modified: outcome.modified }));
  }
}

function said(refusal: Refusal | null, text: string): EdgeResponse {
  const takenAt = String(now());
  const body = refusal ? errorBody(refusal) : text;
  const status = refusal ? refusal.status : 200;
  return { status, headers: { get: (name) => (name === "taken-at" ? takenAt : null) }, text: async () => body };
}
