/**
 * Drives an app over real HTTP as the service would: calls the function, keeps what steps yield, plans parallel steps, retries,
 * and goes on until the run ends. Time does not pass here: sleeps end at once, waits end as the test says.
 */

import { createEventIdGenerator } from "@inlet/protocol";
import { canonicalJson } from "../src/wire/canonical-json.ts";
import { signBody } from "../src/wire/signing.ts";

export interface DriveOptions {
  /** The app's endpoint. */
  url: string;
  functionId: string;
  event?: Record<string, unknown>;
  events?: Record<string, unknown>[];
  signingKey?: string;
  /** Attempts per step and of the function. */
  maxAttempts?: number;
  /** What waits and invocations come to, by the step's id: a memo as the service keeps it. */
  outcomes?: Record<string, unknown>;
  /** Which of several open steps ends first: earlier here is earlier there. */
  order?: string[];
  /** Changes a call's body before it is sent. */
  edit?: (body: Record<string, unknown>) => void;
}

export interface DrivenCall {
  stepId: string;
  status: number;
  headers: Headers;
  body: unknown;
}

export interface DrivenRun {
  runId: string;
  status: "completed" | "failed";
  output: unknown;
  calls: DrivenCall[];
  steps: Record<string, unknown>;
}

interface Operation {
  op: string;
  id: string;
  name: string;
  displayName: string;
  data?: unknown;
  error?: unknown;
}

const CALLS_MAX = 200;
const ids = createEventIdGenerator();

export async function driveRun(options: DriveOptions): Promise<DrivenRun> {
  const run = new RunDriver(options);
  for (let i = 0; i < CALLS_MAX; i++) if (await run.step()) return run.report;
  throw new Error(`the run did not end within ${CALLS_MAX} calls`);
}

class RunDriver {
  readonly report: DrivenRun = { runId: ids.next(Date.now()), status: "completed", output: undefined, calls: [], steps: {} };
  readonly #options: DriveOptions;
  readonly #stack: string[] = [];
  readonly #attempts = new Map<string, number>();
  readonly #open = new Map<string, Operation>();
  #isParallel = false;
  #version = -1;
  #needsDiscovery = true;

  constructor(options: DriveOptions) {
    this.#options = options;
  }

  /** One move of the service; true once the run has ended. */
  async step(): Promise<boolean> {
    if (this.#needsDiscovery) {
      this.#needsDiscovery = false;
      return this.#take("step", await this.#call("step"));
    }
    const next = this.#nextOpen();
    if (!next) throw new Error("nothing is left to do, but the run has not ended");
    if (next.op === "StepPlanned") return this.#take(next.id, await this.#call(next.id));
    this.#done(next, next.op === "Sleep" ? null : (this.#options.outcomes?.[next.displayName] ?? null));
    return false;
  }

  #nextOpen(): Operation | undefined {
    const order = this.#options.order ?? [];
    const rank = ({ displayName }: Operation) => (order.includes(displayName) ? order.indexOf(displayName) : order.length);
    return [...this.#open.values()].sort((a, b) => rank(a) - rank(b))[0];
  }

  async #call(stepId: string): Promise<DrivenCall> {
    const { functionId, signingKey, url } = this.#options;
    const body = canonicalJson(this.#body(stepId));
    const headers: Record<string, string> = { "content-type": "application/json", "x-service-run-id": this.report.runId };
    if (signingKey) headers["x-service-signature"] = await signBody(new TextEncoder().encode(body), signingKey);
    const answer = await fetch(`${url}?fnId=${functionId}&stepId=${stepId}`, { method: "POST", headers, body });
    const call = { stepId, status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) as unknown };
    if (!answer.headers.get("x-service-sdk")?.startsWith("js:v")) throw new Error("the response does not name its SDK");
    this.report.calls.push(call);
    return call;
  }

  #body(stepId: string): Record<string, unknown> {
    const { event = { name: "test/event", data: {} }, events, maxAttempts = 1 } = this.#options;
    const whole = (events ?? [event]).map((each) => ({ id: "event-1", ts: 1_700_000_000_000, user: {}, ...each }));
    const ctx = {
      run_id: this.report.runId,
      fn_id: "4e1b2c3d-0000-4000-8000-000000000000",
      step_id: stepId,
      attempt: this.#attempts.get(stepId) ?? 0,
      max_attempts: maxAttempts,
      stack: { stack: this.#stack, current: this.#stack.length },
      disable_immediate_execution: this.#isParallel,
      use_api: false,
    };
    const body = { event: whole[0], events: whole, steps: this.report.steps, ctx, version: this.#version, use_api: false };
    this.#options.edit?.(body);
    return body;
  }

  #take(stepId: string, { status, headers, body }: DrivenCall): boolean {
    if (status === 200) return this.#end("completed", body);
    if (status === 206) return this.#takeOperations(stepId, body as Operation[], headers);
    return this.#retry(stepId, headers) ? false : this.#end("failed", body);
  }

  #takeOperations(stepId: string, operations: Operation[], headers: Headers): boolean {
    if (operations.length > 1) this.#isParallel = true;
    this.#version = Number(headers.get("x-service-req-version"));
    for (const operation of operations) {
      if (operation.op === "StepRun") this.#done(operation, { data: operation.data });
      else if (operation.op === "StepError" && this.#retry(stepId, headers)) continue;
      else if (operation.op === "StepError" || operation.op === "StepFailed") this.#done(operation, { error: operation.error });
      else this.#open.set(operation.id, operation);
    }
    return false;
  }

  #done({ id }: Operation, memo: unknown): void {
    this.#open.delete(id);
    this.report.steps[id] = memo;
    this.#stack.push(id);
    this.#attempts.delete("step");
    // As the service does: timers and waits hold nothing up, planned steps do unless the SDK wants to be asked after each.
    const isSettled = ![...this.#open.values()].some(({ op }) => op === "StepPlanned");
    if (isSettled) this.#isParallel = false;
    if (isSettled || this.#version < 2) this.#needsDiscovery = true;
  }

  #retry(stepId: string, headers: Headers): boolean {
    const attempts = (this.#attempts.get(stepId) ?? 0) + 1;
    if (headers.get("x-service-no-retry") === "true" || attempts >= (this.#options.maxAttempts ?? 1)) return false;
    this.#attempts.set(stepId, attempts);
    if (stepId === "step") this.#needsDiscovery = true;
    return true;
  }

  #end(status: DrivenRun["status"], output: unknown): boolean {
    this.report.status = status;
    this.report.output = output;
    return true;
  }
}
