/** What happened at the apps: every call with its fate, every body that ran. The model is held against it. */

import type { KeyId } from "@inlet/protocol";
import type { BatchedEvent, SimEcho, SimQuota, SimSchema } from "./deeds/deeds.ts";
import { now } from "./virtual-time.ts";

/** What the service and its apps begin with. */
export const SIGNING_KEY = `signkey-test-${"0a".repeat(32)}`;

/**
 * What became of a call. `lost`, `cut`, `hung`: the network's doing, and the service spends an attempt on it. `killed`, `stopped`: the
 * service's own, which costs no attempt.
 */
export type Fate = "under-way" | "answered" | "lost" | "cut" | "hung" | "killed" | "stopped";

export interface CallNote {
  no: number;
  runId: string;
  functionId: string;
  /** The planned step it is for; null: the function itself. */
  stepId: string | null;
  attempt: number;
  dispatchId: string;
  process: number;
  sentAt: number;
  fate: Fate;
  /** When it ended for the service. */
  endedAt: number | null;
  /** The network delivered it to the app twice. */
  wasDoubled: boolean;
  status: number | null;
  answer: string | null;
}

export interface BodyNote {
  call: CallNote;
  runId: string;
  /** `<id>`, `<id>:1`, … as SDKs tell equal ids apart. */
  step: string;
  attempt: number;
  /** Since when the call was entitled to run it: it was sent, or its result before was taken. */
  permittedAt: number;
  startedAt: number;
  /** When the service is known to have its outcome; null: never. */
  keptAt: number | null;
  failed: boolean;
}

/** A function was paused: the service had said so by then, and was asked to resume it at the end. */
export interface PauseNote {
  /** Null: all of them, since the environment was archived. */
  functionId: string | null;
  pausedAt: number;
  resumedAt: number;
}

/** A run was rerun, or may have been: the service went away before it said so. */
export interface RerunNote {
  sourceId: string;
  /** The step from which on; null: the whole run. */
  from: string | null;
  newId: string | null;
  doneAt: number | null;
}

/** Somebody decided an approval. Null: the service went away before it said what became of that. */
export interface DecisionNote {
  approvalId: string;
  no: number;
  decision: "approved" | "rejected";
  by: string;
  outcome: "decided" | "ended" | null;
  askedAt: number;
}

/** Something held for a while: the service was asked to, and had said so; and the same of its end. */
export interface SpanNote {
  askedAt: number;
  setAt: number;
  endAskedAt: number;
  endedAt: number;
}

export interface QuotaNote extends SpanNote {
  quota: SimQuota["quota"];
  limit: number;
}

export interface FunctionLimitNote extends SpanNote {
  functionId: string;
  limit: number;
}

/** A schema was declared: the service was asked to, and had said so; and the same of its end. */
export interface SchemaNote {
  name: string;
  mode: SimSchema["mode"];
  askedAt: number;
  declaredAt: number;
  removeAskedAt: number;
  removedAt: number;
}

/** Events that were sent in one request. */
export interface BatchNote {
  events: readonly BatchedEvent[];
  /** Of the request that was answered. */
  sentAt: number;
  answeredAt: number;
  outcome: "accepted" | "refused" | null;
  /** What became of a request before is not known. */
  mayBeStored: boolean;
}

/** An event that was sent twice with one id, and the ids that were answered. */
export interface EchoNote extends SimEcho {
  ids: string[];
}

/** Everything about an event was erased by a job. */
export interface ErasureNote {
  n: number;
  eventId: string;
  jobId: string | null;
  askedAt: number;
}

/** A secret that senders were given. */
export interface SecretNote {
  text: string;
  revokeAskedAt: number;
  revokedAt: number;
}

export interface KeyNote extends SecretNote {
  /** Null: it is never revoked. */
  id: KeyId | null;
}

/** It was there when the store was asked to remove what is old, and was gone afterwards. In virtual time, that is one instant. */
export interface RemovalNote {
  since: number;
  by: number;
}

/** Somebody asked for a job. `id`: as the service said; null: it went away before. */
export interface JobNote {
  kind: string;
  /** Null: it is about none. */
  functionId: string | null;
  askedAt: number;
  id: string | null;
}

/** A request that the service made for a step. `refused`: nobody answered it. */
export interface RequestNote {
  process: number;
  fate: "under-way" | "answered" | "refused" | "killed" | "stopped";
  endedAt: number | null;
}

/** A signal that the service took. */
export interface SignalNote {
  signal: string;
  runId: string;
  /** Tells it apart from all others. */
  no: number;
}

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
  /** Requests of webhooks that were accepted. */
  readonly delivered: { n: number; name: string }[] = [];
  /** What retention has removed: runs, by id, and events, by number. */
  readonly removedRuns = new Map<string, RemovalNote>();
  readonly removedEvents = new Map<number, RemovalNote>();
  /** Every time one was asked for. */
  readonly jobs: JobNote[] = [];
  /** Leases whose results were not applied, or that were given back, by the id that apps are called with. */
  readonly lostLeases = new Set<string>();
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

  noteFunctionLimit(functionId: string, limit: number): FunctionLimitNote {
    const note: FunctionLimitNote = { functionId, limit, ...NEVER };
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

  noteErasure(n: number, eventId: string): ErasureNote {
    const note: ErasureNote = { n, eventId, jobId: null, askedAt: now() };
    this.erasures.push(note);
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

  /** In real time, where a write takes some: the process died, and with it what it had not written of the answers to its calls. */
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
