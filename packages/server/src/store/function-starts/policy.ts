/** How long marks are kept. */

import type { RunNo } from "@inlet/protocol";
import type { MarkKey } from "../contract/index.ts";

/** A singleton's mark is needed as long as the run it names is active, so it is examined again after this time. */
const HELD_MARK_MS = 86_400_000;

/** Until when the mark of a singleton is kept that names an active run. */
export function heldMarkExpiresAt(now: number): number {
  return now + HELD_MARK_MS;
}

/** The run that keeps an expired mark while it is active: that of a singleton. Null: the mark can be removed. */
export function runKeepingMark({ kind, value }: { kind: MarkKey["kind"]; value: string }): RunNo | null {
  return kind === "singleton" ? (Number(value) as RunNo) : null;
}
