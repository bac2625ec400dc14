/** The duration of a run, up to now while it is unfinished. */

import type { RunItem } from "../api/types.ts";
import { duration, useNow } from "../ui/time.tsx";

type Timed = Pick<RunItem, "startedAt" | "endedAt">;

export function RunDuration({ run }: { run: Timed }) {
  if (run.startedAt === null) return <>—</>;
  if (run.endedAt !== null) return <>{duration(Math.max(0, Date.parse(run.endedAt) - Date.parse(run.startedAt)))}</>;
  return <Ticking since={Date.parse(run.startedAt)} />;
}

function Ticking({ since }: { since: number }) {
  const now = useNow(1_000);
  return <>{duration(Math.max(0, Math.round((now - since) / 1_000) * 1_000))}</>;
}
