/**
 * Faults of a database in the log. One whose disk is full, or on which a lock is held, refuses some work and does other, many times a second:
 * it is reported once, and its recovery when nothing has failed for a while.
 */

import type { Logger } from "pino";

const CALM_MS = 5_000;

export interface FaultReport {
  onFault(reason: string): void;
  onRecovery(): void;
}

/** `database`: its name; null for the store's own. */
export function reportFaults(log: Pick<Logger, "error" | "info">, database: string | null, calmMs = CALM_MS): FaultReport {
  const of = database === null ? {} : { database };
  let isReported = false;
  let recovering: NodeJS.Timeout | undefined;
  return {
    onFault(reason) {
      clearTimeout(recovering);
      if (isReported) return;
      isReported = true;
      log.error({ ...of, reason }, "the store cannot be written: requests are refused with 503 until it can");
    },
    onRecovery() {
      clearTimeout(recovering);
      recovering = setTimeout(() => {
        isReported = false;
        log.info(of, "the store can be written again");
      }, calmMs).unref();
    },
  };
}
