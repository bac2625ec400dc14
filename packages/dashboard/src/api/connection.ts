/**
 * Whether the service responds. Every call reports how it went; while the service is away, its health is polled, and the first response
 * ends the outage for the whole dashboard.
 */

import { useSyncExternalStore } from "react";

const POLL_FIRST_MS = 500;
const POLL_MAX_MS = 5_000;

let lastContactAt = Date.now();
let isAway = false;
const changed = new Set<() => void>();
const returned = new Set<() => void>();

export function reportContact(): void {
  lastContactAt = Date.now();
  if (!isAway) return;
  isAway = false;
  for (const listener of [...changed, ...returned]) listener();
}

export function reportAway(): void {
  if (isAway) return;
  isAway = true;
  for (const listener of changed) listener();
  void pollUntilBack();
}

export function isServiceAway(): boolean {
  return isAway;
}

/** Calls the listener each time an outage ends. */
export function whenBack(listener: () => void): () => void {
  returned.add(listener);
  return () => void returned.delete(listener);
}

/** When the service responded last; null unless it is away. */
export function useAwaySince(): number | null {
  return useSyncExternalStore(
    (listener) => {
      changed.add(listener);
      return () => void changed.delete(listener);
    },
    () => (isAway ? lastContactAt : null),
  );
}

/** Whether the service responds, and is able to serve pages. */
export async function isHealthy(): Promise<boolean> {
  try {
    return (await fetch("/health", { cache: "no-store", signal: AbortSignal.timeout(POLL_MAX_MS) })).ok;
  } catch {
    return false;
  }
}

async function pollUntilBack(): Promise<void> {
  for (let waitMs = POLL_FIRST_MS; isAway; waitMs = Math.min(waitMs * 2, POLL_MAX_MS)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (isAway && (await isHealthy())) reportContact();
  }
}
