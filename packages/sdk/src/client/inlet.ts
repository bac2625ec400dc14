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
import type { Client, SendAs } from "./client.ts";
import { Realtime } from "./realtime.ts";
import { currentRun } from "./run-context.ts";
import { sendEvents } from "./send-events.ts";
import { sendSignal } from "./send-signal.ts";
import { readSettings, type Settings, type SettingsOptions } from "./settings.ts";

export interface InletOptions<Schemas, Checked extends boolean> extends SettingsOptions {
  /** The app's name in the service. */
  id: string;
  /** A Standard Schema (zod, valibot, …) for the `data` of each event name. */
  events?: Schemas | undefined;
  /** Validates events against their schemas at run time, when sent and when received. */
  validate?: Checked | undefined;
  /** Whether events and functions that a run starts belong to the run's sessions. Default: true. */
  sessionPropagation?: boolean | undefined;
}

export interface FunctionConfig<Schemas, Checked, Event> extends FlowConfig {
  /** Up to five events that cancel the run. */
  cancelOn?: readonly CancelOn<KnownName<Schemas>>[] | undefined;
  /** Runs when the function has failed permanently, as a separate function with its own retries. */
  onFailure?: ((context: FailureContext<Schemas, Checked, Event>) => unknown) | undefined;
}

export class Inlet<Schemas extends EventSchemas = NoSchemas, Checked extends boolean = false> implements Client {
  readonly id: string;
  /** Not enumerable, so that keys do not appear in logs of the client or its functions. */
  declare readonly settings: Settings;
  readonly schemas: EventSchemas;
  readonly validates: boolean;
  readonly sessionPropagation: boolean;
  readonly realtime: Realtime;

  constructor(options: InletOptions<Schemas, Checked>) {
    checkId(options.id, "app");
    this.id = options.id;
    Object.defineProperty(this, "settings", { value: readSettings(options) });
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
    const list = this.sessionPropagation ? given.map((event) => stampedEvent(event, sessions)) : given;
    const capture = currentRun()?.capture;
    return { ids: capture ? capture.events(list) : await sendEvents(this.settings, { events: list, ...as }) };
  }

  /** Resumes the run that waits for the signal. Returns its id, or null if none does. Requires the signing key, except in dev. */
  async sendSignal(signal: SentSignal): Promise<{ runId: string | null }> {
    const capture = currentRun()?.capture;
    if (!capture) return sendSignal(this.settings, signal);
    capture.signal(signal);
    return { runId: null };
  }

  createFunction<const Triggers extends Trigger<Schemas> | readonly Trigger<Schemas>[], Result>(
    // The event inside a failure is the original one: it is not validated.
    config: FunctionConfig<Schemas, Checked, TriggeredEvent<Schemas, false, Triggers>>,
    trigger: Triggers & OnlyTriggerFields<Triggers>,
    handler: (context: FunctionContext<Schemas, Checked, TriggeredEvent<Schemas, Checked, Triggers>>) => Result,
  ): InletFunction<Awaited<Result>, InvocableData<Schemas, Triggers>> {
    const { onFailure, ...flow } = config;
    const triggers = (Array.isArray(trigger) ? trigger : [trigger]) as PlainTrigger[];
    return createInletFunction({ client: this, config: flow, triggers, handler, onFailure });
  }
}
