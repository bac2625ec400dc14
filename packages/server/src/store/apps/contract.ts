/** Apps and the functions they registered. Few rows, read whole: events are matched against a registry in memory. */

import type { AppId, AppNo, EnvironmentId, FunctionNo, KeyId } from "@inlet/protocol";

export interface App {
  no: AppNo;
  id: AppId;
  environmentId: EnvironmentId;
  /** The id that its developers chose. */
  name: string;
  url: string;
  /** The SDK it registered with: `js:v4.24.0`. */
  sdk: string;
  /** The set of headers that its SDK uses. */
  headers: HeaderSet;
  framework: string | null;
  /** Checksum of the last registration: registering the same again changes nothing. */
  checksum: string;
  createdAt: number;
  syncedAt: number;
  /** Why the last sync failed; null if it succeeded. */
  error: string | null;
  removedAt: number | null;
  /** The signing key of its last registration; null on a dev server. */
  signingKeyId: KeyId | null;
}

/** `x-service-*` or `x-inngest-*`. */
export type HeaderSet = "service" | "inngest";

export interface StoredFunction {
  no: FunctionNo;
  environmentId: EnvironmentId;
  appNo: AppNo;
  /** `<app>-<function>`, unique in its environment. */
  id: string;
  name: string;
  /** JSON text, as registered. */
  config: string;
  createdAt: number;
  updatedAt: number;
  /** Set when the function is missing from a sync, or its app was removed: it starts no further runs. */
  archivedAt: number | null;
  /** Set while the function is paused. A sync does not change it. */
  pausedAt: number | null;
  /** Limits that people set without a deploy; null: there are none. A sync does not change them. */
  limits: FunctionLimits | null;
}

/** Each limit goes before the one that the app registered; null: the app's own. */
export interface FunctionLimits {
  concurrency: number | null;
  throttle: LimitedRate | null;
  rateLimit: LimitedRate | null;
  changedAt: number;
  /** The name of the person or key. */
  changedBy: string;
}

export interface LimitedRate {
  limit: number;
  /** A duration, as given. */
  period: string;
}

export interface NewFunction {
  id: string;
  name: string;
  config: string;
  /** Its schedules, each with the next time it is due. */
  crons: readonly { cron: string; dueAt: number }[];
}

export interface AppSyncParams
  extends Pick<App, "id" | "environmentId" | "name" | "url" | "sdk" | "headers" | "framework" | "checksum" | "syncedAt" | "signingKeyId"> {
  functions: readonly NewFunction[];
}

export interface AppStore {
  /** Every app, including removed ones: their runs are still shown. Oldest first. */
  appList(): Promise<App[]>;
  /** Every function, including archived ones. */
  functionList(): Promise<StoredFunction[]>;
  /**
   * Replaces the app and its functions with the ones given, in one transaction: functions that are missing are archived,
   * schedules replaced. `modified` is false if the checksum equals that of the last sync.
   */
  appSync(params: AppSyncParams): Promise<{ app: App; modified: boolean }>;
  /** A function that is already paused keeps its time. Null resumes the function. queueUnhold then makes its held calls due. */
  functionPause(params: { environmentId: EnvironmentId; functionNo: FunctionNo; pausedAt: number | null }): Promise<void>;
  functionLimit(params: { environmentId: EnvironmentId; functionNo: FunctionNo; limits: FunctionLimits | null }): Promise<void>;
  /** Records why a sync failed, on every app with this URL. */
  appFault(params: { environmentId: EnvironmentId; url: string; error: string }): Promise<void>;
  /** Archives the functions and ends their schedules. Null if there is no such app. */
  appRemove(params: { environmentId: EnvironmentId; id: AppId; removedAt: number }): Promise<App | null>;
}
