/** Branded identifiers, so that an event id cannot be passed as an environment id. */

declare const brand: unique symbol;

type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** A ULID: 26 characters of Crockford base 32, sortable by creation time. */
export type EventId = Branded<string, "EventId">;

/** Small and internal: it leads every key of the store. People see the environment's name. */
export type EnvironmentId = Branded<number, "EnvironmentId">;

export type KeyId = Branded<string, "KeyId">;

export type SessionId = Branded<string, "SessionId">;

export type WebhookId = Branded<string, "WebhookId">;

export type WebhookRequestId = Branded<string, "WebhookRequestId">;

export type AppId = Branded<string, "AppId">;

/** A ULID, like an event's: runs sort by creation time. */
export type RunId = Branded<string, "RunId">;
export type JobId = Branded<string, "JobId">;

/** A ULID, as in the peer's API. */
export type CancellationId = Branded<string, "CancellationId">;

/** The hash by which an SDK identifies a step. */
export type StepId = Branded<string, "StepId">;

/** Small and internal, like an environment's: used in rows. */
export type AppNo = Branded<number, "AppNo">;
export type FunctionNo = Branded<number, "FunctionNo">;
export type RunNo = Branded<number, "RunNo">;
export type EntryNo = Branded<number, "EntryNo">;
/** Identifies one lease of a queue entry. Never reused. */
export type LeaseId = Branded<string, "LeaseId">;
