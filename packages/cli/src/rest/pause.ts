/** Waits, but not past the moment somebody asks to stop. */

import { setTimeout as sleep } from "node:timers/promises";

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
