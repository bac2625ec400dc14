/** Environments: separate worlds of events, keys and functions. */

import type { EnvironmentId } from "@inlet/protocol";

/** `shared` is the scope `branch`, which holds the keys and webhooks of all branch environments. */
export type EnvironmentKind = "default" | "custom" | "branch" | "shared";

export interface Environment {
  id: EnvironmentId;
  name: string;
  kind: EnvironmentKind;
  createdAt: number;
  archivedAt: number | null;
  /** Null: the limit of the installation holds. */
  bodyBytesMax: number | null;
}

export interface EnvironmentStore {
  environmentList(): Promise<Environment[]>;
  /** Null when the name is taken. */
  environmentInsert(params: Omit<Environment, "id" | "archivedAt">): Promise<Environment | null>;
  /** Changes the fields given; null when there is no such environment. */
  environmentUpdate(params: { id: EnvironmentId; archivedAt?: number | null; bodyBytesMax?: number | null }): Promise<Environment | null>;
}
