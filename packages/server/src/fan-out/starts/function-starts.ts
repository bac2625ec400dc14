/** Processes entries that start functions: events of functions with rules about their starts, due batches and debounces, and schedules. */

import type { EnvironmentId, EventIdGenerator, RunId, StepId } from "@inlet/protocol";
import type {
  ClaimedEntry,
  EventSource,
  FunctionStartParams,
  HeaderSet,
  Invoker,
  Lease,
  NewEvent,
  NewRun,
  RunError,
  Store,
  StoredEvent,
} from "../../store/contract/index.ts";
import type { EventValue } from "../expressions.ts";
import { type FanOut, hasStartRules, once } from "../fan-out.ts";
import type { RegisteredFunction, Registry } from "../registry.ts";
import { eventValue } from "../waits.ts";
import { nextTick, tickAt } from "./crons.ts";
import {
  decideGathered,
  decideLostGathering,
  decideStart,
  dropGathering,
  eventsGathered,
  eventsToStart,
  firstGathered,
  gatheringNamed,
  marksOf,
  notStarted,
  type StartFacts,
} from "./decide-start.ts";
import { StartOrder } from "./start-order.ts";

const INVOCATION_EVENT = "inngest/function.invoked";
/** By the headers of the function's app: ours, or those of published SDKs. */
const CRON_EVENTS: Record<HeaderSet, string> = { service: "inlet/scheduled.timer", inngest: "inngest/scheduled.timer" };
const CRON_SOURCE: EventSource = { kind: "internal", id: "cron" };

export interface FunctionStartsParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  eventIds: EventIdGenerator;
  lease(): Lease;
  /** Fails the step that invoked a function that is not started. */
  refuse(environmentId: EnvironmentId, invoker: Invoker, error: RunError): Promise<void>;
  /** Starts a trace for an event that has none, while traces are exported. */
  traced(event: NewEvent): NewEvent;
  /** Nothing is started in an archived environment. */
  isArchived(environmentId: EnvironmentId): boolean;
  now(): number;
}

export class FunctionStarts {
  readonly #parts: FunctionStartsParts;
  readonly #order = new StartOrder();

  constructor(parts: FunctionStartsParts) {
    this.#parts = parts;
  }

  /** Returns the resulting work, leased to this node. */
  async work(entry: ClaimedEntry): Promise<ClaimedEntry[]> {
    const registered = await this.#parts.registry.livingFunction(entry.functionNo);
    if (!registered) return this.#drop(entry);
    if (entry.kind === "cron") return this.#tick(entry, registered);
    return entry.kind === "gather" ? this.#gathered(entry, registered) : this.#requested(entry, registered);
  }

  /** The function no longer exists. */
  async #drop(entry: ClaimedEntry): Promise<ClaimedEntry[]> {
    if (entry.kind === "gather") {
      const mark = gatheringNamed(entry.subject ?? "");
      return this.#start(entry, { marks: [mark], decide: () => dropGathering(mark) });
    }
    const event = await this.#eventOf(entry);
    const invoker = event && (await this.#invokerOf(entry.environmentId, event));
    return this.#start(entry, { marks: [], decide: () => notStarted({ invoker }, "it no longer exists") });
  }

  async #eventOf({ environmentId, eventSequence }: ClaimedEntry): Promise<StoredEvent | null> {
    return eventSequence === null ? null : this.#parts.store.eventAt({ environmentId, sequence: eventSequence });
  }

  #requested(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const prepare = async () => {
      const event = await this.#eventOf(entry);
      return event && { event, invoker: await this.#invokerOf(entry.environmentId, event) };
    };
    return this.#order.pass(entry.functionNo, prepare, (found) => (found ? this.#request(entry, registered, found) : this.#drop(entry)));
  }

  #request(
    entry: ClaimedEntry,
    registered: RegisteredFunction,
    { event, invoker }: Pick<StartFacts, "event" | "invoker">,
  ): Promise<ClaimedEntry[]> {
    const value = eventValue(event);
    const marks = marksOf(registered.config, value, this.#parts.store.storeKeyHash);
    const facts = { ...this.#facts(registered, event, value), invoker };
    return this.#start(entry, {
      marks,
      eventsNeeded: (values) => eventsToStart(values, facts),
      decide: (state) => decideStart(marks, state, facts),
    });
  }

  /** The step of an invocation, as named by its event. */
  async #invokerOf(environmentId: EnvironmentId, event: StoredEvent): Promise<Invoker | null> {
    const origin = invocationOrigin(event);
    const run = origin && (await this.#parts.store.runFind({ id: origin.runId, environmentId }));
    return run ? { runNo: run.no, stepId: origin.stepId } : null;
  }

  /** The entry contains only the key. The other rules use the first event collected under it. */
  async #gathered(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const { store } = this.#parts;
    const { environmentId, functionNo } = entry;
    const mark = gatheringNamed(entry.subject ?? "");
    const sequence = firstGathered(await store.markGet({ environmentId, functionNo, ...mark }));
    const event = sequence === null ? null : await store.eventAt({ environmentId, sequence });
    if (!event) {
      return this.#start(entry, {
        marks: [mark],
        eventsNeeded: ([gathered]) => eventsGathered(gathered).slice(0, 1),
        decide: (state) => decideLostGathering(mark, state),
      });
    }
    const value = eventValue(event);
    const keys = marksOf(registered.config, value, store.storeKeyHash).map((other) => (other.kind === mark.kind ? mark : other));
    return this.#start(entry, {
      marks: keys,
      eventsNeeded: (values) => eventsGathered(values[keys.indexOf(mark)]),
      decide: (state) => decideGathered(mark.kind, keys, state, this.#facts(registered, event, value)),
    });
  }

  async #start(entry: ClaimedEntry, start: Pick<FunctionStartParams, "marks" | "eventsNeeded" | "decide">): Promise<ClaimedEntry[]> {
    const { store, now, lease, refuse } = this.#parts;
    const { environmentId, functionNo } = entry;
    const { leased, refused } = await store.functionStart({ environmentId, entry, functionNo, ...start, now: now(), lease: lease() });
    if (refused) {
      // The entry is kept until the step is notified: after a crash in between it is notified again, which changes nothing.
      await refuse(environmentId, refused.invoker, refused.error);
      await store.queueRemove(entry);
    }
    return leased;
  }

  #facts(registered: RegisteredFunction, event: StoredEvent, value: EventValue): StartFacts {
    const now = this.#parts.now();
    const newRun: StartFacts["newRun"] = (first, dueAt) => this.#newRun(registered, first, dueAt, now);
    return { config: registered.config, event, value, now, invoker: null, newRun };
  }

  #newRun(registered: RegisteredFunction, event: NewEvent, dueAt: number, now: number): NewRun {
    const value = once(() => eventValue(event));
    const run = this.#parts.fanOut.newRun(registered, value, dueAt, now);
    return Object.values(CRON_EVENTS).includes(event.name) ? { ...run, cron: String((value().data as { cron?: unknown }).cron) } : run;
  }

  /** One run for the due tick, however late it is; missed ticks, and those of an archived environment, are skipped. */
  async #tick(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const cron = entry.subject ?? "";
    const receivedAt = this.#parts.now();
    const { environmentId } = entry;
    const batch = { environmentId, receivedAt, source: CRON_SOURCE, duplicateSince: 0, idsFromSender: false };
    const isSkipped = this.#parts.isArchived(environmentId);
    const events = isSkipped ? [] : [{ ...batch, events: [this.#tickEvent(cron, registered, receivedAt)] }];
    const next = nextTick(cron, receivedAt);
    // In one transaction with the entry's next time: otherwise a crash in between would duplicate a tick.
    return this.#start(entry, { marks: [], decide: () => ({ events, ...(next !== null && { againAt: next }) }) });
  }

  #tickEvent(cron: string, registered: RegisteredFunction, now: number): NewEvent {
    const scheduledAt = new Date(tickAt(cron, now)).toISOString();
    const dueAt = now + jitterOf(registered, cron);
    const event = this.#parts.traced({
      id: this.#parts.eventIds.next(now),
      name: CRON_EVENTS[registered.app.headers],
      ts: now,
      // The same tick twice, for instance after a crash, is one event.
      dedupId: `${registered.id} ${cron} ${scheduledAt}`,
      data: JSON.stringify({ cron, scheduledAt, fireAt: new Date(dueAt).toISOString() }),
      extras: null,
    });
    if (hasStartRules(registered)) return { ...event, starts: [{ functionNo: registered.no, dueAt }] };
    return { ...event, runs: [this.#newRun(registered, event, dueAt, now)] };
  }
}

/** Only the service itself writes events of this name (see step-parameters.ts). */
function invocationOrigin({ name, data }: NewEvent): { runId: RunId; stepId: StepId } | null {
  if (name !== INVOCATION_EVENT) return null;
  const { _inngest } = JSON.parse(data) as { _inngest?: { correlation_id?: string } };
  const [runId, stepId] = (_inngest?.correlation_id ?? "").split(".");
  return runId && stepId ? { runId: runId as RunId, stepId: stepId as StepId } : null;
}

function jitterOf({ config }: RegisteredFunction, cron: string): number {
  const trigger = config.triggers.find((candidate) => "cron" in candidate && candidate.cron === cron);
  return trigger && "cron" in trigger ? Math.floor(Math.random() * (trigger.jitterMs ?? 0)) : 0;
}
