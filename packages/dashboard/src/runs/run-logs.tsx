/** What a function wrote through its logger: the lines of one step, or those outside steps. Rendered as text. */

import type { Run } from "../api/types.ts";
import { plural } from "../ui/numbers.ts";
import { CallText } from "./call-text.tsx";

interface RunLogsProps {
  run: Run;
  /** Null: lines outside steps. */
  stepId: string | null;
  title: string;
}

export function RunLogs({ run, stepId, title }: RunLogsProps) {
  const text = linesOf(run, stepId).join("\n");
  const dropped = droppedOf(run, stepId);
  if (text === "" && dropped === 0) return null;
  const note = dropped > 0 ? `${plural(dropped, "more line")} not kept` : "";
  return <CallText title={title} text={text} note={note} copied="log lines" />;
}

function linesOf({ calls }: Run, stepId: string | null): string[] {
  return calls.flatMap(({ logs, attempt }) =>
    (logs?.lines ?? [])
      .filter((line) => line.stepId === stepId)
      .map(({ at, level, message }) => {
        const retry = attempt > 0 ? ` attempt ${attempt + 1}` : "";
        return `${at.slice("yyyy-mm-ddT".length, -1)} ${level.padEnd(5)}${retry} ${message}`;
      }),
  );
}

/** Of a call, the last lines are left out: they belong to the step that it ran, if any. */
function droppedOf({ calls }: Run, stepId: string | null): number {
  const last = calls.filter(({ logs }) => (logs?.lines.at(-1)?.stepId ?? null) === stepId);
  return last.reduce((sum, { logs }) => sum + (logs?.dropped ?? 0), 0);
}
