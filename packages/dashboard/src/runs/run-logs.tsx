/** What a function wrote through its logger: the lines of one step, or those outside steps. Rendered as text. */

import type { Run } from "../api/types.ts";
import { CopyButton } from "../ui/copy.tsx";
import { plural } from "../ui/numbers.ts";

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
  return (
    <section className="stack tight" aria-label={title}>
      <div className="row">
        <h3>{title}</h3>
        <span className="quiet small grow">{dropped > 0 && `${plural(dropped, "more line")} not kept`}</span>
        <CopyButton text={text} label="Copy log lines" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <pre className="logs call-text" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
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
