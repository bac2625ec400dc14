/** The maximum size of the store, and the sentence about retention that each start prints. */

import { statfs } from "node:fs/promises";
import { formatDuration } from "@inlet/protocol";
import type { Config } from "../config/config.ts";
import type { Store } from "../store/contract/index.ts";

const AUTO_SHARE = 0.8;
const BYTES_MIN = 64 * 1024 * 1024;

/** Null: no limit. By default four fifths of the disk for the embedded store; the disk size of a database server is unknown. */
export async function diskBudgetBytes(
  { diskBudget, dataDir }: Config,
  store: Pick<Store, "storeBytes" | "storeIsShared">,
): Promise<number | null> {
  if (diskBudget !== "auto") return diskBudget;
  if (store.storeIsShared) return null;
  const { bavail, bsize } = await statfs(dataDir);
  return Math.max(BYTES_MIN, Math.floor((bavail * bsize + (await store.storeBytes())) * AUTO_SHARE));
}

export function describeRetention({ eventRetention, runRetention, requestRetention }: Config, budgetBytes: number | null): string {
  const kept = (ms: number | null) => (ms === null ? "for ever" : formatDuration(ms));
  const times = `Retention: events ${kept(eventRetention)}, ended runs ${kept(runRetention)}, webhook requests ${kept(requestRetention)}`;
  const size = budgetBytes === null ? "no limit on disk" : `at most ${formatBytes(budgetBytes)} on disk, oldest removed first`;
  return `${times}; ${size}. Change it with --event-retention, --run-retention, --request-retention and --disk-budget.`;
}

function formatBytes(bytes: number): string {
  const gib = bytes / 1024 ** 3;
  return gib >= 1 ? `${Number(gib.toFixed(1))}gb` : `${Math.floor(bytes / 1024 ** 2)}mb`;
}
