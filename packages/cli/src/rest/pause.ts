/** Waits until the time has passed or the signal aborts. */

import { setTimeout as sleep } from "node:timers/promises";

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
