/** Apps and the functions they registered. Few rows, read whole: the registry in memory is what events are matched against. */

import type { AppId, AppNo, EnvironmentId, FunctionNo } from "@inlet/protocol";

export interface App {
  no: AppNo;
  id: AppId;
  environmentId: EnvironmentId;
  /** The id its developers gave it. */
  name: string;
  url: string;
  /** What it registered with: `js:v4.24.0`. */
  sdk: string;
  /** Which set of headers its SDK speaks. */
  headers: HeaderSet;
  framework: string | null;
  /** Of what was registered last: the same again changes nothing. */
  checksum: string;
  createdAt: number;
  syncedAt: number;
  /** Why the last sync failed; null when it did not. */
  error: string | null;
  removedAt: number | null;
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
  /** JSON text as it was registered. */
  config: string;
  createdAt: number;
  updatedAt: number;
  /** Set when the function was missing from a sync, or its app removed: it starts no further runs. */
  archivedAt: number | null;
  /** Set while its runs wait. A sync leaves it as it is. */
  pausedAt: number | null;
}

export interface NewFunction {
  id: string;
  name: string;
  config: string;
  /** Its schedules, each with the next time it is due. */
  crons: readonly { cron: string; dueAt: number }[];
}

export interface AppSyncParams {
  id: AppId;
  environmentId: EnvironmentId;
  name: string;
  url: string;
  sdk: string;
  headers: HeaderSet;
  framework: string | null;
  checksum: string;
  functions: readonly NewFunction[];
  syncedAt: number;
}

export interface AppStore {
  /** Every app, removed ones too: their runs are still shown. Oldest first. */
  appList(): Promise<App[]>;
  /** Every function, archived ones too. */
  functionList(): Promise<StoredFunction[]>;
  /**
   * Makes the app and its functions what the parameters say, in one transaction: functions missing from them are archived,
   * schedules replaced. `modified` is false when the checksum is the one of the last sync.
   */
  appSync(params: AppSyncParams): Promise<{ app: App; modified: boolean }>;
  /** Null goes on. What was held is let go by queueUnhold. */
  functionPause(params: { environmentId: EnvironmentId; functionNo: FunctionNo; pausedAt: number | null }): Promise<void>;
  /** Notes why a sync failed, on every app with this URL. */
  appFault(params: { environmentId: EnvironmentId; url: string; error: string }): Promise<void>;
  /** Archives the functions and ends their schedules. Null when there is no such app. */
  appRemove(params: { environmentId: EnvironmentId; id: AppId; removedAt: number }): Promise<App | null>;
}
