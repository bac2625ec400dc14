/** Converts rows of apps and functions to the contract's records. */

import type { AppId, AppNo, EnvironmentId, FunctionNo, KeyId } from "@inlet/protocol";
import type { App, FunctionLimits, HeaderSet, StoredFunction } from "../contract/index.ts";

export type AppRow = Record<string, string | number | null>;

export function toApp(row: AppRow): App {
  return {
    no: row.app_no as AppNo,
    id: row.app_id as AppId,
    environmentId: row.environment_id as EnvironmentId,
    name: row.name as string,
    url: row.url as string,
    sdk: row.sdk as string,
    headers: row.headers as HeaderSet,
    framework: row.framework as string | null,
    checksum: row.checksum as string,
    createdAt: row.created_at as number,
    syncedAt: row.synced_at as number,
    error: row.error as string | null,
    removedAt: row.removed_at as number | null,
    signingKeyId: row.signing_key_id as KeyId | null,
  };
}

export function toFunction(row: AppRow): StoredFunction {
  return {
    no: row.function_no as FunctionNo,
    environmentId: row.environment_id as EnvironmentId,
    appNo: row.app_no as AppNo,
    id: row.function_id as string,
    name: row.name as string,
    config: row.config as string,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    archivedAt: row.archived_at as number | null,
    pausedAt: row.paused_at as number | null,
    limits: row.limits === null ? null : (JSON.parse(row.limits as string) as FunctionLimits),
  };
}
