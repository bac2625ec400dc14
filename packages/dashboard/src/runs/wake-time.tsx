/** When a sleep or a wait ends, or ended. */

import type { RunStep } from "../api/types.ts";
import { duration, Time, useNow } from "../ui/time.tsx";

export function WakeTime({ step: { kind, until, endedAt, eventName } }: { step: RunStep }) {
  const now = useNow(1_000);
  if (until === null) return null;
  const leftMs = Date.parse(until) - now;
  return (
    <>
      {eventName !== null && endedAt === null && `for ${eventName}, `}
      {kind === "sleep" ? (endedAt === null ? "wakes " : "woke ") : "times out "}
      <Time at={kind === "sleep" && endedAt !== null ? endedAt : until} />
      {endedAt === null && leftMs > 0 && `, in ${duration(Math.round(leftMs / 1_000) * 1_000)}`}
    </>
  );
}
