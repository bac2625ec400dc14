/** The REST API's responses, as the dashboard uses them. Payloads stay text. */

import type { JsonText } from "./json-text.ts";

export type EnvironmentKind = "default" | "custom" | "branch";

export interface Environment {
  name: string;
  kind: EnvironmentKind;
  createdAt: string;
  archivedAt: string | null;
  bodyLimitBytes: number | null;
  /** Of the signed-in person. */
  role: string | null;
  /** Durations such as `30d`; null: as set for the service. */
  retention: { events: string | null; runs: string | null; requests: string | null };
  /** The name of the database that holds its data. */
  database: string;
}

/** A database of the installation. The first is the directory. */
export interface Database {
  name: string;
  /** Names. */
  environments: string[];
  reachable: boolean;
  /** Null: it did not answer. */
  bytes: number | null;
}

export const QUOTAS = ["eventsPerSecond", "eventsPerDay", "bytesPerDay", "callsAtOnce", "storedBytes"] as const;
export type Quota = (typeof QUOTAS)[number];

/** An environment with what is used of its quotas in the running second or day, or now. */
export interface UsedEnvironment extends Environment {
  quotas: Record<Quota, number | null>;
  usage: Record<Quota, number>;
}

export interface EventSource {
  kind: "key" | "webhook" | "function" | "internal";
  id: string;
  name: string;
  /** The run that sent it, or whose step or end caused it. */
  run?: string;
}

/** Where an event breaks the schema declared for its name. */
export interface SchemaFault {
  path?: string;
  message: string;
}

export interface EventItem {
  id: string;
  name: string;
  data: JsonText;
  ts: number;
  receivedAt: string;
  environment: string;
  source: EventSource;
  duplicates: number;
  /** No request brought it: it was found in what the provider lists. */
  isReconciled: boolean;
  dedupId: string | null;
  /** Empty: it matches the schema declared for its name, or was not checked. */
  schemaFaults: readonly SchemaFault[];
  /** Other fields that the sender set, as text: `v`, `user` and others. */
  extras: ReadonlyMap<string, JsonText>;
}

export interface RunMention {
  id: string;
  status: RunStatus;
  function: { id: string; name: string };
}

export const RUN_STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface RunItem extends RunMention {
  app: string;
  environment: string;
  event: { id: string; name: string; preview: string } | null;
  cron: string | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  originalRunId: string | null;
  /** Without its stack in lists. */
  error: RunError | null;
  failedAttempts: number;
  /** The job that started it. */
  job: string | null;
}

export type RunCounts = Partial<Record<RunStatus, number>>;

export interface RunError {
  name: string;
  message: string;
  stack?: string;
}

export type StepStatus = "planned" | "running" | "completed" | "failed" | "sleeping" | "waiting";

export interface RunStep {
  id: string;
  name: string;
  kind: "run" | "sleep" | "wait" | "invoke" | string;
  status: StepStatus;
  startedAt: string | null;
  endedAt: string | null;
  attempts: number;
  output: JsonText | null;
  error: RunError | null;
  until: string | null;
  eventName: string | null;
  /** The event that ended a wait. */
  eventId: string | null;
  signal: string | null;
  approvalId: string | null;
  childRunId: string | null;
}

export interface RunAttempt {
  attempt: number;
  stepId: string | null;
  startedAt: string;
  endedAt: string | null;
  httpStatus: number | null;
  outcome: string;
  error: RunError | null;
}

export interface RunCall {
  stepId: string | null;
  attempt: number;
  outcome: "ok" | "error";
  startedAt: string;
  endedAt: string;
  httpStatus: number | null;
  request: { method: string; path: string; steps: string[] };
  /** The start of the body, and its full length. */
  answer: { body: string; length: number } | null;
  /** What the function wrote through its logger. */
  logs: { lines: { at: string; level: string; message: string; stepId: string | null }[]; dropped: number } | null;
}

export interface Run extends RunItem {
  /** The value of its function's ordering key, as JSON text. */
  orderKey: string | null;
  /** Why it is not being called at the moment. */
  waiting: { reason: string; until: string | null; runId: string | null } | null;
  /** The last run that repeats it. */
  rerun: { id: string; status: RunStatus } | null;
  /** The run that invoked it. */
  invokedBy: string | null;
  /** The event that cancelled it. */
  cancelledBy: string | null;
  traceId: string | null;
  /** The page that shows the trace. */
  traceUrl: string | null;
  output: JsonText | null;
  steps: RunStep[];
  attempts: RunAttempt[];
  calls: RunCall[];
}

export interface AppItem {
  id: string;
  name: string;
  url: string;
  environment: string;
  sdk: string | null;
  framework: string | null;
  functions: number;
  syncedAt: string | null;
  createdAt: string;
  error: string | null;
}

export interface FunctionTrigger {
  event?: string;
  if?: string;
  cron?: string;
}

export interface FunctionItem {
  id: string;
  name: string;
  app: string;
  environment: string;
  triggers: FunctionTrigger[];
  url: string;
  config: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  /** Since when it is paused. */
  pausedAt: string | null;
  /** How many runs wait because it is paused. */
  held: number;
  limits: FunctionLimits;
}

/** Set without a deploy; null: as the app registered it. */
export interface FunctionLimits {
  concurrency: number | null;
  throttle: LimitedRate | null;
  rateLimit: LimitedRate | null;
  changedAt: string | null;
  changedBy: string | null;
}

export interface LimitedRate {
  limit: number;
  period: string;
}

/** A key of a function with an order whose later runs wait, because one of its runs failed. */
export interface Hold {
  id: string;
  /** The value of the ordering key, as JSON text; null if the run has been removed or its event erased. */
  key: string | null;
  /** The run that failed; null if it has been removed. */
  runId: string | null;
  heldAt: string;
  waiting: number;
}

export interface EventType {
  name: string;
  /** Null: it is declared, but no event has been accepted. */
  firstSeenAt: string | null;
  lastSeenAt: string | null;
  count24h: number;
  count: number;
  functions: { id: string; name: string }[];
  /** One count for each of the last 25 hours, oldest first. */
  hours: number[];
}

export type SchemaMode = "observe" | "warn" | "refuse";

interface Seen {
  count: number;
  firstSeenAt: string;
  lastSeenAt: string;
}

/** Inferred from traffic. */
export interface EventShape {
  samples: number;
  isTruncated: boolean;
  fields: (Seen & { path: string; frequency: number; types: (Seen & { type: string })[] })[];
}

export interface EventTypeDetails extends Omit<EventType, "hours"> {
  volume: { at: string; count: number }[];
  schema: object | null;
  mode: SchemaMode;
  version: number;
  faults: number;
  lastFaultAt: string | null;
  shape: EventShape | null;
  drift: { kind: "field" | "type"; path: string; type: string; at: string; eventId: string }[];
}

export interface AcceptList {
  mode: "allow" | "deny";
  list: string[];
}

export interface Webhook {
  id: string;
  name: string;
  environment: string;
  url: string;
  transform: string;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  enabled: boolean;
  verify: WebhookVerify | null;
  handshake: { preset?: string; source?: string; secrets?: ShownSecret[] } | null;
  answer: { status: number; contentType: string; body: string } | null;
  mirror: { to: string[]; sample: number } | null;
  reconcile: WebhookReconcile | null;
  state: "ready" | "waiting_for_secret";
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** With the options of its preset. */
export interface WebhookReconcile {
  preset?: string;
  source?: string;
  every: string;
  lookBack: string;
  secrets: ShownSecret[];
  [option: string]: unknown;
}

/** Nothing is shown of a short secret. */
export interface ShownSecret {
  last4: string | null;
}

export interface WebhookVerify {
  scheme: string;
  toleranceSeconds: number;
  secrets: ShownSecret[];
  [field: string]: unknown;
}

export interface WebhookVersion {
  version: number;
  transform: string;
  createdAt: string;
  /** The key or person that saved it. */
  author: string | null;
  current: boolean;
}

export interface WebhookRequest {
  id: string;
  receivedAt: string;
  ip: string | null;
  method: string;
  headers: Record<string, string>;
  rawHeaders: string[];
  query: Record<string, string[]>;
  rawQuery: string;
  contentType: string | null;
  body: string | null;
  bodyBase64?: string;
  status: number;
  outcome: string;
  /** It was not received, but found in what the provider lists. */
  reconciled?: boolean;
  error?: string;
  eventId?: string;
  environment: string;
  transformVersion: number;
  durationMs: number;
  logs: string[];
}

export interface TestResult {
  ok: boolean;
  event: JsonText | null;
  /** The response of the handshake; there is then no event. */
  handshake: { status: number; contentType: string; headers: string[]; body: string } | null;
  /** The result of verification; null if there is none. */
  verification: { ok: boolean; reason?: string; header?: string; character?: number; byte?: number } | null;
  error: { code: string; message: string; line?: number; column?: number } | null;
  logs: string[];
  durationMs: number;
}

export type BacktestChange = "same" | "different" | "now_fails" | "now_works" | "still_fails";

export interface Backtest {
  version: number;
  summary: Record<BacktestChange, number>;
  requests: {
    requestId: string;
    receivedAt: string;
    change: BacktestChange;
    before: { event?: unknown; error?: { message: string } };
    after: { event?: unknown; error?: { message: string } };
    diff: { path: string; before?: unknown; after?: unknown }[];
  }[];
}

export interface Provider {
  id: string;
  title: string;
  sends: string;
  setUp: string;
  signatureHeader: string | null;
  category: string;
  /** Without secrets. */
  verify: { scheme: string } | null;
  secretFrom: string | null;
  handshake: { preset?: string; source?: string } | null;
  note: string | null;
  retries: string | null;
  timeout: string | null;
  documentation: string | null;
  /** The page that confirms each fact. */
  source: Record<string, string>;
  transform: string;
  fixtures: { title: string; headers: Record<string, string>; query: string; body: string }[];
}

export interface Key {
  id: string;
  kind: "event" | "api" | "signing";
  name: string;
  prefix: string;
  environment?: string | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  role?: string | null;
  /** API keys: the environments it is restricted to; null for all. */
  environments?: string[] | null;
  createdAt: string;
  revokedAt: string | null;
  /** Only in the response that created it. */
  key?: string;
}

export interface Session {
  required: boolean;
  role: string | null;
  name: string | null;
  expiresAt: string | null;
  mode: "dev" | "start";
  version: string;
  /** Where the person has a role; null: everywhere. */
  environments: string[] | null;
  defaultEnvironment: string;
}

export interface OpenSession {
  id: string;
  name: string;
  role: string;
  ip: string;
  userAgent: string | null;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  current: boolean;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: { kind: string; id: string | null; name: string | null };
  action: string;
  target: { kind: string; id: string | null; name: string | null };
  environment: string | null;
  details: unknown;
}
