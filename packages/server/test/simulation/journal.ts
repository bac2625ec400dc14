/** What happened at the apps: every call with its fate, every body that ran. The model is held against it. */

import type { KeyId } from "@inlet/protocol";
import type { ListedItem } from "../../src/reconcile/listed-item.ts";
import type { BatchedEvent, SimEcho, SimSchema } from "./deeds/deeds.ts";
import type {
  AlertNote,
  AppRemovalNote,
  BatchNote,
  BodyNote,
  CallNote,
  CancellationNote,
  DecisionNote,
  DeliveryNote,
  DrillNote,
  EchoNote,
  ErasureNote,
  Fate,
  FunctionLimitNote,
  InvocationNote,
  JobNote,
  KeyNote,
  PauseNote,
  QuotaNote,
  RemovalNote,
  ReplayNote,
  RequestNote,
  RerunNote,
  SchemaNote,
  SecretNote,
  SignalNote,
  SpanNote,
  StreamNote,
} from "./journal-notes.ts";
import { REAL_TELLING_MS } from "./scenario.ts";
import { now } from "./virtual-time.ts";

/** What the service and its apps begin with. */
export const SIGNING_KEY = `signkey-test-${"0a".repeat(32)}`;

const NEVER: SpanNote = {
  askedAt: Number.POSITIVE_INFINITY,
  setAt: Number.POSITIVE_INFINITY,
  endAskedAt: Number.POSITIVE_INFINITY,
  endedAt: Number.POSITIVE_INFINITY,
};

export class Journal {
  readonly calls: CallNote[] = [];
  readonly bodies = new Map<string, BodyNote[]>();
  readonly callsOf = new Map<string, CallNote[]>();
  readonly endedRuns = new Set<string>();
  /**
   * How long it takes until a change that one node has made holds on the others: in real time, REAL_TELLING_MS and as long as the store took
   * at most to answer a node. In virtual time, none.
   */
  tellingMs = 0;
  /** When the store acknowledged each event, the first time and the last: one may be sent again with its id. */
  readonly storedAt = new Map<string, number>();
  readonly storedLastAt = new Map<string, number>();
  /** By `<run>/<step>`: when the transaction that ended the step was asked for. */
  readonly stepEndAskedAt = new Map<string, number>();
  /** By `<run>/<step>`. */
  readonly requests = new Map<string, RequestNote[]>();
  readonly signals: SignalNote[] = [];
  signalsSent = 0;
  readonly pauses: PauseNote[] = [];
  readonly reruns: RerunNote[] = [];
  /** By `<run>/<step>`: sleeps that somebody asked to end. */
  readonly woken = new Set<string>();
  readonly decisions: DecisionNote[] = [];
  readonly cancellations: CancellationNote[] = [];
  readonly invocations: InvocationNote[] = [];
  readonly appRemovals: AppRemovalNote[] = [];
  /** By then, all apps were registered. */
  peopleBeganAt = 0;
  readonly quotas: QuotaNote[] = [];
  readonly functionLimits: FunctionLimitNote[] = [];
  /** When processes began: what they know of the last second begins there. */
  readonly processStarts: number[] = [];
  /** By the id of an event that was to be stored: its request, and the bytes of that. */
  readonly requestOf = new Map<string, { key: string; bytes: number }>();
  readonly schemas: SchemaNote[] = [];
  readonly batches: BatchNote[] = [];
  readonly echoes: EchoNote[] = [];
  readonly erasures: ErasureNote[] = [];
  /** Oldest first. */
  readonly keys: KeyNote[] = [];
  /** The signing key that the apps are deployed with. */
  appKey = SIGNING_KEY;
  readonly secrets: SecretNote[] = [];
  readonly streams: StreamNote[] = [];
  /** What the provider of the webhook lists, oldest first. */
  readonly listed: ListedItem[] = [];
  readonly delivered: DeliveryNote[] = [];
  /** When the service was asked to replace a transform that fails, and had done so on every node. */
  transform = { repairAskedAt: 0, repairedAt: 0 };
  readonly replays: ReplayNote[] = [];
  readonly drills: DrillNote[] = [];
  readonly alerts: AlertNote[] = [];
  /** Requests that drills have as samples, and how often they may be stored, drills apart. */
  readonly drilled: Pick<DeliveryNote, "n" | "hasId" | "timesMax">[] = [];
  /** What retention has removed: runs, by id, and events, by number. */
  readonly removedRuns = new Map<string, RemovalNote>();
  readonly removedEvents = new Map<number, RemovalNote>();
  /** Every time one was asked for. */
  readonly jobs: JobNote[] = [];
  /** Leases whose results were not applied, or that were given back, by the id that apps are called with. */
  readonly lostLeases = new Set<string>();
  /** By `<number of the run>/<step>`: how often its outcome was not applied. */
  readonly lostOutcomes = new Map<string, number>();
  /** When the store had acknowledged what follows from the end of a call, by the id of its lease. */
  readonly writtenAt = new Map<string, number>();
  readonly faults: string[] = [];
  /** Apps that were sent as many calls as they may be: whatever else they are called for had to wait. */
  readonly fullApps = new Set<string>();
  /** By `<function no>/<key of its throttle>`: how many runs were admitted, and when. */
  readonly admissions = new Map<string, { at: number; count: number }[]>();
  /** When a run that had failed was told to hold up its key no longer. */
  readonly releases = new Map<string, number>();
  /** Which run holds up a key, by its position. */
  readonly holders = new Map<number, string>();

  fault(message: string): void {
    if (this.faults.length < 50) this.faults.push(`at ${now() % 86_400_000} ms: ${message}`);
  }

  noteCall(call: Omit<CallNote, "no" | "fate" | "endedAt" | "sentAt" | "status" | "answer">): CallNote {
    const note: CallNote = { ...call, no: this.calls.length, fate: "under-way", endedAt: null, sentAt: now(), status: null, answer: null };
    this.calls.push(note);
    const calls = this.callsOf.get(note.runId);
    if (calls) calls.push(note);
    else this.callsOf.set(note.runId, [note]);
    return note;
  }

  /** The store took so long to answer a node. */
  noteStoreMs(ms: number): void {
    if (this.tellingMs > 0) this.tellingMs = Math.max(this.tellingMs, REAL_TELLING_MS + ms);
  }

  noteRerun(sourceId: string, from: string | null): RerunNote {
    const note: RerunNote = { sourceId, from, newId: null, doneAt: null };
    this.reruns.push(note);
    return note;
  }

  noteDecision(approvalId: string, decision: DecisionNote["decision"]): DecisionNote {
    const no = this.decisions.length;
    const note: DecisionNote = { approvalId, no, decision, by: `person ${no % 3}`, outcome: null, askedAt: now() };
    this.decisions.push(note);
    return note;
  }

  noteQuota(quota: QuotaNote["quota"]): QuotaNote {
    const note: QuotaNote = { quota, limit: Number.POSITIVE_INFINITY, ...NEVER };
    this.quotas.push(note);
    return note;
  }

  noteFunctionLimit(limit: Omit<FunctionLimitNote, keyof SpanNote>): FunctionLimitNote {
    const note: FunctionLimitNote = { ...limit, ...NEVER };
    this.functionLimits.push(note);
    return note;
  }

  noteSchema(name: string, mode: SimSchema["mode"]): SchemaNote {
    const never = Number.POSITIVE_INFINITY;
    const note = { name, mode, askedAt: now(), declaredAt: never, removeAskedAt: never, removedAt: never };
    this.schemas.push(note);
    return note;
  }

  noteBatch(events: readonly BatchedEvent[]): BatchNote {
    const note: BatchNote = { events, sentAt: 0, answeredAt: 0, outcome: null, mayBeStored: false };
    this.batches.push(note);
    return note;
  }

  noteEcho(echo: SimEcho): EchoNote {
    const note = { ...echo, ids: [] };
    this.echoes.push(note);
    return note;
  }

  noteJob(kind: string, functionId: string | null): JobNote {
    const note: JobNote = { kind, functionId, askedAt: now(), id: null };
    this.jobs.push(note);
    return note;
  }

  noteAlert(rule: Pick<AlertNote, "functionId" | "threshold" | "windowMs">): AlertNote {
    const note: AlertNote = { id: `alr_${this.alerts.length}`, ...rule, disabled: null, ...NEVER };
    this.alerts.push(note);
    return note;
  }

  noteDrill(kinds: DrillNote["kinds"]): DrillNote {
    const note: DrillNote = { kinds, jobId: null };
    this.drills.push(note);
    return note;
  }

  noteReplay(n: number): ReplayNote {
    const note: ReplayNote = { n, outcome: null };
    this.replays.push(note);
    return note;
  }

  noteCancellation(asked: Omit<CancellationNote, "endedAt">): CancellationNote {
    const note: CancellationNote = { ...asked, endedAt: null };
    this.cancellations.push(note);
    return note;
  }

  noteInvocation(functionId: string, n: number): InvocationNote {
    const note: InvocationNote = { functionId, n, runIds: [] };
    this.invocations.push(note);
    return note;
  }

  noteErasure(n: number, eventId: string): ErasureNote {
    const note: ErasureNote = { n, eventId, jobId: null, askedAt: now() };
    this.erasures.push(note);
    return note;
  }

  noteStream(channel: string): StreamNote {
    const note: StreamNote = { channel, published: [], received: [], gaps: [] };
    this.streams.push(note);
    return note;
  }

  noteKey(text: string, id: KeyId | null): void {
    this.keys.push({ text, id, revokeAskedAt: Number.POSITIVE_INFINITY, revokedAt: Number.POSITIVE_INFINITY });
  }

  noteSecret(text: string): void {
    this.secrets.push({ text, revokeAskedAt: Number.POSITIVE_INFINITY, revokedAt: Number.POSITIVE_INFINITY });
  }

  noteAdmission(key: string, at: number, count: number): void {
    const admissions = this.admissions.get(key);
    if (admissions) admissions.push({ at, count });
    else this.admissions.set(key, [{ at, count }]);
  }

  noteRequest(key: string, process: number): RequestNote {
    const note: RequestNote = { process, fate: "under-way", endedAt: null };
    const notes = this.requests.get(key);
    if (notes) notes.push(note);
    else this.requests.set(key, [note]);
    return note;
  }

  endRequest(note: RequestNote, fate: Exclude<RequestNote["fate"], "under-way">): void {
    note.fate = fate;
    note.endedAt = now();
  }

  noteLostOutcome(runNo: number, stepId: string | null): void {
    const key = `${runNo}/${stepId}`;
    this.lostOutcomes.set(key, (this.lostOutcomes.get(key) ?? 0) + 1);
  }

  noteBody(body: Omit<BodyNote, "startedAt" | "keptAt" | "failed">): BodyNote {
    const note: BodyNote = { ...body, startedAt: now(), keptAt: null, failed: false };
    const key = `${body.runId}/${body.step}`;
    const notes = this.bodies.get(key);
    if (notes) notes.push(note);
    else this.bodies.set(key, [note]);
    return note;
  }

  /** The process died, or stopped, and what it was answered since then may not have been written. */
  loseSince(at: number, fate: "killed" | "stopped", process: number): void {
    for (const call of this.calls) {
      if (call.process === process && call.fate === "answered" && (call.endedAt ?? 0) >= at) call.fate = fate;
    }
    this.loseRequestsSince(at, fate, process);
    for (const note of [...this.bodies.values()].flat()) {
      if (note.call.process === process && note.keptAt !== null && note.keptAt >= at) note.keptAt = null;
    }
  }

  loseRequestsSince(at: number, fate: "killed" | "stopped", process: number): void {
    for (const note of [...this.requests.values()].flat()) {
      if (note.process === process && ["answered", "refused"].includes(note.fate) && (note.endedAt ?? 0) >= at) note.fate = fate;
    }
  }

  /** In real time, where a write takes some: the process died, and with it what it had not written of the responses to its calls. */
  loseUnwritten(process: number): void {
    const isLost = (call: CallNote) => call.process === process && call.fate === "answered" && !this.writtenAt.has(call.dispatchId);
    for (const note of [...this.bodies.values()].flat()) {
      // What was kept before its call ended is stored: the service had said so.
      if (isLost(note.call) && note.keptAt !== null && note.keptAt >= (note.call.endedAt ?? 0)) note.keptAt = null;
    }
    for (const call of this.calls) if (isLost(call)) call.fate = "killed";
  }

  endCall(call: CallNote, fate: Exclude<Fate, "under-way">): void {
    if (call.fate !== "under-way") return;
    call.fate = fate;
    call.endedAt = now();
  }
}
