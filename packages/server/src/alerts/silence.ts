/** The measurement of a rule of kind `silence`: for how long there was no activity, and whether that is too long. */

import type { FunctionNo, WebhookId } from "@inlet/protocol";
import {
  type ActivityStore,
  type ActivitySubject,
  type AlertRule,
  type EventStore,
  type RunStore,
  silenceSubject,
  type WebhookRequestStore,
} from "../store/contract/index.ts";
import { LEARNT_AFTER_MS, RHYTHM_MS, Rhythm } from "./rhythm.ts";

export interface SilenceParts {
  store: Pick<ActivityStore, "activityLast" | "activityList"> &
    Pick<EventStore, "eventList"> &
    Pick<RunStore, "runEndCount"> &
    Pick<WebhookRequestStore, "webhookRequestList">;
  /** What this node noted and has not written yet. */
  activity: { note(subject: ActivitySubject, at?: number): void; flush(): Promise<void> };
  functionNos(environmentId: AlertRule["environmentId"], functionId: string | null): readonly FunctionNo[];
  now(): number;
}

export interface Silence {
  /** How long it lasts, in seconds. */
  value: number;
  isOver: boolean;
}

interface Missed {
  subject: string;
  at: number;
}

/** Of a function's runs, looked at for one that ended. */
const RUNS_MAX = 1_000;
/** Hours of activity read to learn a rhythm: more than one name in every hour of eight weeks. */
const HOURS_MAX = 100_000;
const LEARN_EVERY_MS = 3_600_000;

export class Silences {
  readonly #parts: SilenceParts;
  /** By rule; learning one reads weeks of activity. */
  readonly #rhythms = new Map<string, { learntAt: number; subject: string; rhythm: Rhythm }>();

  constructor(parts: SilenceParts) {
    this.#parts = parts;
  }

  async measure(rule: AlertRule): Promise<Silence> {
    const { activity, now } = this.#parts;
    const subject = silenceSubject(rule);
    await activity.flush();
    // Activity is kept for longer than any window.
    const known = await this.#parts.store.activityLast({ ...subject, since: 0 });
    const last = known ?? rule.createdAt;
    if (rule.raisedAt !== null) return silence(last, now(), this.#isStillSilent(rule, known));
    if (!(await this.#isOver(rule, subject, last, now()))) return silence(last, now(), false);
    const missed = await this.#missedSince(rule, last);
    if (missed === null) return silence(last, now(), true);
    activity.note({ ...subject, subject: missed.subject }, missed.at);
    return silence(missed.at, now(), false);
  }

  /** The rhythm of the last weeks; null, with the time from which on it will be known, if there is too little activity to tell. */
  async rhythm(subject: ActivitySubject): Promise<{ rhythm: Rhythm | null; knownFrom: number }> {
    const { store, activity, now } = this.#parts;
    await activity.flush();
    const at = now();
    const hours = await store.activityList({ ...subject, since: at - RHYTHM_MS, limit: HOURS_MAX });
    const knownFrom = (hours[0]?.at ?? at) + LEARNT_AFTER_MS;
    return { rhythm: knownFrom <= at ? new Rhythm(hours, at) : null, knownFrom };
  }

  /** A raised alert ends with the next activity, whatever is usual by then. Activity that is no longer kept ends none. */
  #isStillSilent({ raisedAt, value }: AlertRule, known: number | null): boolean {
    return known === null || known <= (raisedAt as number) - (value ?? 0) * 1_000;
  }

  async #isOver(rule: AlertRule, subject: ActivitySubject, last: number, at: number): Promise<boolean> {
    if (rule.windowMs !== null) return at - last >= rule.windowMs;
    const known = this.#rhythms.get(rule.id);
    const key = JSON.stringify(subject);
    if (known && known.subject === key && at - known.learntAt < LEARN_EVERY_MS) return known.rhythm.isUnusual(last, at);
    const { rhythm } = await this.rhythm(subject);
    if (rhythm === null) return false;
    this.#rhythms.set(rule.id, { learntAt: at, subject: key, rhythm });
    return rhythm.isUnusual(last, at);
  }

  /** Activity in the store that was never noted, because a node was killed or has not written yet; null if there is none. */
  async #missedSince({ environmentId, functionId, webhookId, eventName }: AlertRule, last: number): Promise<Missed | null> {
    const { store, functionNos, now } = this.#parts;
    const from = last + 1;
    if (webhookId !== null) {
      // What was found in a list shows no activity of its provider.
      const params = { environmentId, webhookId: webhookId as WebhookId, outcome: "accepted", isReceived: true, from, limit: 1 };
      const [request] = (await store.webhookRequestList(params)).requests;
      return request ? { subject: webhookId, at: request.receivedAt } : null;
    }
    if (eventName !== null) {
      // Events of the service itself are never noted as activity.
      const [event] = (await store.eventList({ environmentId, name: eventName, internal: false, from, limit: 1 })).events;
      return event ? { subject: event.name, at: event.receivedAt } : null;
    }
    const ends = functionNos(environmentId, functionId).map((functionNo) =>
      store.runEndCount({ environmentId, functionNo, status: "completed", since: from, limit: RUNS_MAX }),
    );
    const hasEnded = (await Promise.all(ends)).some(({ count }) => count > 0);
    return hasEnded ? { subject: functionId ?? "", at: now() } : null;
  }
}

function silence(last: number, now: number, isOver: boolean): Silence {
  return { value: Math.max(0, now - last) / 1_000, isOver };
}
