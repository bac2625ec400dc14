/** Environments: isolated sets of events, keys and functions. */

import type { EnvironmentId, Quota } from "@inlet/protocol";

/** `shared` is the scope `branch`, which holds the keys and webhooks of all branch environments. */
export type EnvironmentKind = "default" | "custom" | "branch" | "shared";

/** Of a request that is about no environment: none has this id, so nothing is found. */
export const NO_ENVIRONMENT_ID = 0 as EnvironmentId;

export interface Environment {
  id: EnvironmentId;
  name: string;
  kind: EnvironmentKind;
  createdAt: number;
  archivedAt: number | null;
  /** Null: the limit of the installation applies. */
  bodyBytesMax: number | null;
  retention: EnvironmentRetention;
  quotas: EnvironmentQuotas;
  /** The database that holds its data: 0 is the directory. */
  databaseNo: number;
}

export { QUOTAS, type Quota } from "@inlet/protocol/quotas";

/** Null: no limit. */
export type EnvironmentQuotas = Record<Quota, number | null>;

/** How long its events, runs and requests are retained; null: as set for the installation. */
export interface EnvironmentRetention {
  eventsMs: number | null;
  runsMs: number | null;
  requestsMs: number | null;
}

export interface EnvironmentChanges {
  archivedAt?: number | null;
  bodyBytesMax?: number | null;
  retention?: Partial<EnvironmentRetention>;
  quotas?: Partial<EnvironmentQuotas>;
}

/** Without a number of a database, it is placed on the directory. */
export type NewEnvironment = Pick<Environment, "name" | "kind" | "createdAt" | "bodyBytesMax"> & { databaseNo?: number };

export interface EnvironmentStore {
  environmentList(): Promise<Environment[]>;
  /** Null if the name is taken. */
  environmentInsert(params: NewEnvironment): Promise<Environment | null>;
  /** Changes the fields given. Null if there is no such environment. */
  environmentUpdate(params: EnvironmentChanges & { id: EnvironmentId }): Promise<Environment | null>;
}

/** Only on PostgreSQL: a database that holds an environment has a copy of the row that the directory has of it. */
export interface EnvironmentCopies {
  /** Writes the rows as they are given. */
  environmentCopy(params: { environments: readonly Environment[] }): Promise<void>;
}
