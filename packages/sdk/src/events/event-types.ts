/**
 * The types of events: those of a client's schemas, or open types if it has none.
 * `Schemas` maps event names to Standard Schemas of `data`; `Checked` says whether the client validates received events.
 */

import type { Jsonified } from "./jsonified.ts";
import type { EventMeta, Sessions } from "./sessions.ts";
import type { InferInput, InferOutput, StandardSchemaV1 } from "./standard-schema.ts";

export type EventSchemas = Record<string, StandardSchemaV1>;
export type NoSchemas = Record<never, never>;

/** Without a schema, the type of `data` is unknown; `unknown` would only make every reader cast. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type OpenData = Record<string, any>;

export interface EventPayload<Name extends string = string, Data = OpenData> {
  name: Name;
  data: Data;
  /** For deduplication: an event whose id was seen within the last 24 hours is ignored. */
  id?: string | undefined;
  /** Milliseconds since 1970. A time in the future delays the runs until then. */
  ts?: number | undefined;
  v?: string | undefined;
  user?: Record<string, unknown> | undefined;
  meta?: EventMeta | undefined;
}

export interface ReceivedEvent<Name extends string = string, Data = OpenData> extends EventPayload<Name, Data> {
  id: string;
  ts: number;
  meta?: { sessions?: Sessions | undefined } | undefined;
}

/** What a function with a cron trigger receives. */
export type CronEvent = ReceivedEvent<"inlet/scheduled.timer", { cron: string; [key: string]: unknown }>;

/** Internal events of the service. */
export type InternalEventName = `inngest/${string}` | `inlet/${string}`;

type Name<Schemas> = keyof Schemas & string;
type IsOpen<Schemas> = [keyof Schemas] extends [never] ? true : false;

/** An event that a client can send. */
export type SendableEvent<Schemas> =
  IsOpen<Schemas> extends true
    ? EventPayload
    : { [K in Name<Schemas>]: EventPayload<K, Schemas[K] extends StandardSchemaV1 ? InferInput<Schemas[K]> : never> }[Name<Schemas>];

/** An event name for a wait or a cancellation: declared, or internal. */
export type KnownName<Schemas> = IsOpen<Schemas> extends true ? string : Name<Schemas> | InternalEventName;

/** A trigger can also be a pattern over declared names. */
export type SubscribableName<Schemas> = KnownName<Schemas> | `${string}/*` | `${string}.*`;

/** The data with which a function can be invoked, derived from its trigger or triggers. */
export type InvocableData<Schemas, Triggers> = Triggers extends readonly (infer One)[]
  ? OneInvocableData<Schemas, One>
  : OneInvocableData<Schemas, Triggers>;

type OneInvocableData<Schemas, One> = One extends { event: `${infer Prefix}*` }
  ? [Extract<Name<Schemas>, `${Prefix}${string}`>] extends [never]
    ? OpenData
    : { [K in Extract<Name<Schemas>, `${Prefix}${string}`>]: GivenData<Schemas, K> }[Extract<Name<Schemas>, `${Prefix}${string}`>]
  : One extends { event: infer Wanted extends string }
    ? GivenData<Schemas, Wanted>
    : OpenData;

/** `data` of an event before validation: the input of its schema. */
type GivenData<Schemas, K extends string> = K extends keyof Schemas
  ? Schemas[K] extends StandardSchemaV1
    ? InferInput<Schemas[K]>
    : never
  : OpenData;

/** Data can be left out where the types accept an empty object. */
export type DataField<Data> = Record<never, never> extends Data ? { data?: Data } : { data: Data };

/** The event or events that a name or pattern matches. */
export type EventNamed<Schemas, Checked, Wanted extends string> = Wanted extends `${infer Prefix}*`
  ? [Extract<Name<Schemas>, `${Prefix}${string}`>] extends [never]
    ? ReceivedEvent
    : { [K in Extract<Name<Schemas>, `${Prefix}${string}`>]: ReceivedEvent<K, DataOf<Schemas, Checked, K>> }[Extract<
        Name<Schemas>,
        `${Prefix}${string}`
      >]
  : ReceivedEvent<Wanted, DataOf<Schemas, Checked, Wanted>>;

/** Validated data is the schema's output; otherwise it is the JSON that was sent. */
type DataOf<Schemas, Checked, K extends string> = K extends keyof Schemas
  ? Schemas[K] extends StandardSchemaV1
    ? Checked extends true
      ? InferOutput<Schemas[K]>
      : Jsonified<InferInput<Schemas[K]>>
    : never
  : OpenData;

export type Trigger<Schemas> = { event: SubscribableName<Schemas>; if?: string | undefined } | { cron: string };

/** Makes a misspelt field of a trigger a type error. */
export type OnlyTriggerFields<Triggers> = Triggers extends readonly unknown[]
  ? { readonly [I in keyof Triggers]: OnlyFieldsOf<Triggers[I]> }
  : OnlyFieldsOf<Triggers>;

type OnlyFieldsOf<One> = One extends { cron: string } ? OnlyFields<One, "cron"> : OnlyFields<One, "event" | "if">;
type OnlyFields<One, Known extends string> = { readonly [K in keyof One]: K extends Known ? One[K] : never };

/** The event of a handler, derived from its trigger or triggers. */
export type TriggeredEvent<Schemas, Checked, Triggers> = Triggers extends readonly (infer One)[]
  ? OneTriggeredEvent<Schemas, Checked, One>
  : OneTriggeredEvent<Schemas, Checked, Triggers>;

type OneTriggeredEvent<Schemas, Checked, One> = One extends { event: infer Wanted extends string }
  ? EventNamed<Schemas, Checked, Wanted>
  : One extends { cron: string }
    ? CronEvent
    : never;
