/**
 * Between the service and the apps. The seed decides how long a request and its response take, and whether one of them is lost, the
 * connection is cut, the app never answers or is asked twice. An app that was reached always works to the end, heard or not.
 */

import { isSignatureOf } from "@inlet/protocol";
import type { AppRequest } from "../../src/execute/call/call-app.ts";
import { HEADER_NAMES } from "../../src/execute/call/header-names.ts";
import { givenUp, type NoResponse, tooLate, unreachable } from "../../src/execute/call/no-response.ts";
import type { AppResponse } from "../../src/execute/call/read-response.ts";
import type { CallScope } from "./apps/own-app.ts";
import { type SimApp, stepIdOf } from "./apps/serve-app.ts";
import type { Journal } from "./journal.ts";
import type { CallNote } from "./journal-notes.ts";
import type { Limits } from "./limits.ts";
import { Random } from "./random.ts";
import type { NetworkFaults, Scenario, SdkName } from "./scenario.ts";
import { StepRequests } from "./step-requests.ts";
import { after, now, pass } from "./virtual-time.ts";

export interface NetworkParts {
  seed: number;
  faults: NetworkFaults;
  timeoutMs: number;
  apps: ReadonlyMap<SdkName, SimApp>;
  journal: Journal;
  limits: Limits;
  cuts: NonNullable<Scenario["cuts"]>;
}

interface Pending {
  note: CallNote;
  reject(error: NoResponse): void;
  process: number;
}

interface CallBody {
  ctx: { run_id: string; attempt: number; qi_id: string };
  event?: { data?: { k?: number; n?: number } };
}

/** What one process of the service calls apps with. */
export interface SimCaller {
  call(request: AppRequest): Promise<AppResponse>;
  fetch(request: { url: string; signal?: AbortSignal }): Promise<AppResponse & { url: string }>;
  stop(): Promise<void>;
}

export class Network {
  readonly #parts: NetworkParts;
  readonly #pending = new Set<Pending>();
  readonly #requests: StepRequests;
  readonly #asked = new Map<string, number>();
  /** Processes that may be unable to write what they are answered, and until when. */
  readonly #distrusted = new Map<number, number>();

  constructor(parts: NetworkParts) {
    this.#parts = parts;
    this.#requests = new StepRequests(parts.journal);
  }

  callerOf(process: number): SimCaller {
    return {
      call: (request) => this.#call(request, process),
      fetch: (request) => this.#requests.make(request, process),
      stop: async () => this.#stop(process),
    };
  }

  /** The process is gone, and with it its connections. The apps do not notice. */
  kill(process: number): void {
    this.#requests.kill(process);
    for (const pending of this.#pending) {
      if (pending.process !== process) continue;
      this.#pending.delete(pending);
      this.#parts.journal.endCall(pending.note, "killed");
      this.#parts.limits.end(pending.note);
    }
  }

  drain(process: number): void {
    this.#requests.drain(process);
  }

  /** What this process is answered until then may never be written. */
  distrust(process: number, until: number): void {
    this.#distrusted.set(process, until);
  }

  #stop(process: number): void {
    this.#requests.stop(process);
    for (const pending of this.#pending) if (pending.process === process) this.#giveUp(pending);
  }

  /** The service closes the connection. */
  #giveUp(pending: Pending): void {
    if (!this.#pending.has(pending)) return;
    this.#end(pending, "stopped");
    pending.reject(unreachable("app", "the service stops"));
  }

  #call(request: AppRequest, process: number): Promise<AppResponse> {
    const { limits } = this.#parts;
    const app = this.#appOf(request);
    if (request.method === "PUT") return app.handle(request, undefined as never);
    // Its lease was lost before it was made.
    if (request.signal?.aborted) return Promise.reject(givenUp());
    if (!isSignedFor(request, this.#parts.journal.appKey)) return Promise.resolve({ status: 401, headers: {}, body: "" });
    const { ctx, event } = JSON.parse(request.body) as CallBody;
    const noted = this.#note(request, ctx, process);
    limits.begin(noted, event?.data?.k ?? 0);
    return new Promise((resolve, reject) => {
      const pending: Pending = { note: noted, reject, process };
      this.#pending.add(pending);
      request.signal?.addEventListener("abort", () => this.#giveUp(pending));
      const answered = (answer: AppResponse) => {
        if (!this.#pending.has(pending)) return;
        noted.status = answer.status;
        noted.answer = answer.body.slice(0, 400);
        this.#end(pending, "answered");
        resolve(answer);
      };
      const failed = (fate: "lost" | "cut" | "hung", error: NoResponse) => {
        if (!this.#pending.has(pending)) return;
        this.#end(pending, fate);
        reject(error);
      };
      const name = callName(noted, event?.data?.n);
      this.#carry(name, request, app, noted, { answered, failed });
    });
  }

  #carry(
    name: string,
    request: AppRequest,
    app: SimApp,
    note: CallNote,
    { answered, failed }: { answered(answer: AppResponse): void; failed(fate: "lost" | "cut" | "hung", error: NoResponse): void },
  ): void {
    const { seed, faults, timeoutMs, cuts } = this.#parts;
    const nth = this.#asked.get(name) ?? 0;
    this.#asked.set(name, nth + 1);
    const random = new Random(seed, "call", name, nth);
    const latency = () => random.int(0, faults.latencyMs);
    after(timeoutMs, () => failed("hung", tooLate("app", timeoutMs)));
    const outward = latency();
    if (random.chance(faults.lost)) {
      after(outward, () => failed("lost", unreachable("app", "nothing listens at its address")));
      return;
    }
    const cut = nth === 0 ? cuts[name] : undefined;
    const isCut = random.chance(faults.cut) || cut !== undefined;
    const isSilent = random.chance(faults.hang);
    const homeward = latency();
    const cutAfter = cut ?? random.pick([0, 5, 50, 3_000]);
    note.wasDoubled = random.chance(faults.twice);
    const firstCounts = random.chance(0.5);
    const work = async (counts: boolean) => {
      const scope: CallScope = { call: note, permittedAt: note.sentAt, bodies: [] };
      const answer = await app.handle(request, scope);
      await pass(homeward);
      if (!counts || isSilent) return;
      // The service has it from here on, unless the process dies before it is written: see Journal.
      const isTrusted = now() >= (this.#distrusted.get(note.process) ?? 0);
      const isKept = note.fate === "under-way" && isTrusted;
      answered(answer);
      if (isKept) for (const body of scope.bodies) body.keptAt ??= now();
    };
    after(outward, () => {
      if (isCut) after(cutAfter, () => failed("cut", unreachable("app", "the connection was cut")));
      void work(!note.wasDoubled || firstCounts);
      if (note.wasDoubled) after(latency() + 1, () => void work(!firstCounts));
    });
  }

  #end(pending: Pending, fate: "answered" | "lost" | "cut" | "hung" | "stopped"): void {
    this.#pending.delete(pending);
    this.#parts.journal.endCall(pending.note, fate);
    this.#parts.limits.end(pending.note);
  }

  #appOf({ url }: AppRequest): SimApp {
    const name = new URL(url).hostname as SdkName;
    const app = this.#parts.apps.get(name);
    if (!app) throw new Error(`no app at ${url}`);
    return app;
  }

  #note({ url }: AppRequest, ctx: CallBody["ctx"], process: number): CallNote {
    const target = new URL(url).searchParams;
    return this.#parts.journal.noteCall({
      runId: ctx.run_id,
      functionId: target.get("fnId") ?? "",
      stepId: stepIdOf(url),
      attempt: ctx.attempt,
      dispatchId: ctx.qi_id,
      process,
      wasDoubled: false,
    });
  }
}

/** The same for the same call in every replay, and in every scenario this one is cut down to. */
function callName({ functionId, stepId, attempt }: CallNote, n: number | undefined): string {
  return `${functionId}/${n ?? "-"}/${stepId ?? "-"}/${attempt}`;
}

/** As an SDK checks it, before anything else. */
function isSignedFor({ headers, body }: AppRequest, key: string): boolean {
  const signature = Object.values(HEADER_NAMES).map((names) => headers?.[names.signature]);
  return signature.some((header) => header !== undefined && isSignatureOf(header, body, key));
}
