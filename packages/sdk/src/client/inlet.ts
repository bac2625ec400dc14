/** The client: an app's name and settings. It sends events and creates functions. */

import type {
  EventPayload,
  EventSchemas,
  InvocableData,
  KnownName,
  NoSchemas,
  OnlyTriggerFields,
  SendableEvent,
  Trigger,
  TriggeredEvent,
} from "../events/event-types.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import { stampedEvent } from "../events/sessions.ts";
import { validateSent } from "../events/validate-events.ts";
import type { FailureContext, FunctionContext } from "../functions/context.ts";
import { type CancelOn, checkId, type FlowConfig } from "../functions/function-config.ts";
import { createInletFunction, type InletFunction, type PlainTrigger } from "../functions/inlet-function.ts";
import { encodeEvents, encodeValue } from "../middleware/encoding.ts";
import type { AddedContext, Middleware } from "../middleware/middleware.ts";
import { checkMiddleware } from "../middleware/run-hooks.ts";
import { sendThrough } from "../middleware/send-through.ts";
import type { Client, SendAs } from "./client.ts";
import { Realtime } from "./realtime.ts";
import { currentRun } from "./run-context.ts";
import { sendEvents } from "./send-events.ts";
import { sendSignal } from "./send-signal.ts";
import { readSettings, type Settings, type SettingsOptions } from "./settings.ts";

export interface InletOptions<Schemas, Checked extends boolean, Middlewares extends readonly Middleware[] = readonly Middleware[]>
  extends SettingsOptions {
  /** The app's name in the service. */
  id: string;
  /** A Standard Schema (zod, valibot, …) for the `data` of each event name. */
  events?: Schemas | undefined;
  /** Validates events against their schemas at run time, when sent and when received. */
  validate?: Checked | undefined;
  /** Whether events and functions that a run starts belong to the run's sessions. Default: true. */
  sessionPropagation?: boolean | undefined;
  /** Code around every send, function and step of this client. */
  middleware?: Middlewares | undefined;
}

export interface FunctionConfig<Schemas, Checked, Event, Added = unknown> extends FlowConfig {
  /** Up to five events that cancel the run. */
  cancelOn?: readonly CancelOn<KnownName<Schemas>>[] | undefined;
  /** Runs when the function has failed permanently, as a separate function with its own retries. */
  onFailure?: ((context: FailureContext<Schemas, Checked, Event> & Added) => unknown) | undefined;
}

export class Inlet<
  Schemas extends EventSchemas = NoSchemas,
  Checked extends boolean = false,
  const Middlewares extends readonly Middleware[] = readonly Middleware[],
> implements Client
{
  readonly id: string;
  /** Not enumerable, so that keys do not appear in logs of the client or its functions. */
  declare readonly settings: Settings;
  readonly schemas: EventSchemas;
  readonly validates: boolean;
  readonly sessionPropagation: boolean;
  /** Not enumerable either: middleware may hold keys. */
  declare readonly middleware: readonly Middleware[];
  readonly realtime: Realtime;

  constructor(options: InletOptions<Schemas, Checked, Middlewares>) {
    checkId(options.id, "app");
    this.id = options.id;
    Object.defineProperty(this, "settings", { value: readSettings(options) });
    checkMiddleware(options.middleware ?? []);
    Object.defineProperty(this, "middleware", { value: options.middleware ?? [] });
    this.schemas = options.events ?? {};
    this.validates = options.validate === true;
    this.sessionPropagation = options.sessionPropagation !== false;
    this.realtime = new Realtime(() => this.settings);
  }

  /** Resolves with one Event ID per event once the service has stored the events on disk. Await it: a serverless runtime may stop otherwise. */
  async send(events: SendableEvent<Schemas> | readonly SendableEvent<Schemas>[]): Promise<{ ids: string[] }> {
    const { runId, sessions } = currentRun() ?? {};
    return this.sendAs(events as EventPayload | readonly EventPayload[], { runId, sessions });
  }

  /** Like `send`, with a given seed: used by steps, so that their retries store nothing twice. */
  async sendAs(events: EventPayload | readonly EventPayload[], { sessions, ...as }: SendAs): Promise<{ ids: string[] }> {
    const given = Array.isArray(events) ? (events as readonly EventPayload[]) : [events as EventPayload];
    if (this.validates) await validateSent(this.schemas, given);
    const capture = currentRun()?.capture;
    const ids = await sendThrough(this.middleware, { events: given, runId: as.runId }, async (events) => {
      const list = this.sessionPropagation ? events.map((event) => stampedEvent(event, sessions)) : events;
      if (capture) return capture.events(list);
      return sendEvents(this.settings, { events: await encodeEvents(this.middleware, list), ...as });
    });
    return { ids };
  }

  /** Resumes the run that waits for the signal. Returns its id, or null if none does. Requires the signing key, except in dev. */
  async sendSignal(signal: SentSignal): Promise<{ runId: string | null }> {
    const capture = currentRun()?.capture;
    if (!capture) {
      const data = signal.data === undefined ? {} : { data: await encodeValue(this.middleware, signal.data) };
      return sendSignal(this.settings, { ...signal, ...data });
    }
    capture.signal(signal);
    return { runId: null };
  }

  createFunction<const Triggers extends Trigger<Schemas> | readonly Trigger<Schemas>[], Result>(
    // The event inside a failure is the original one: it is not validated.
    config: FunctionConfig<Schemas, Checked, TriggeredEvent<Schemas, false, Triggers>, AddedContext<Middlewares>>,
    trigger: Triggers & OnlyTriggerFields<Triggers>,
    handler: (context: FunctionContext<Schemas, Checked, TriggeredEvent<Schemas, Checked, Triggers>> & AddedContext<Middlewares>) => Result,
  ): InletFunction<Awaited<Result>, InvocableData<Schemas, Triggers>> {
    const { onFailure, ...flow } = config;
    const triggers = (Array.isArray(trigger) ? trigger : [trigger]) as PlainTrigger[];
    return createInletFunction({ client: this, config: flow, triggers, handler, onFailure });
  }
}
