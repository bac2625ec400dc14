/** Actions on the selected runs: one job reruns or cancels all of them. */

import { useState } from "react";
import { ENDED_STATUSES, type RunItem } from "../api/types.ts";
import { JobDialog } from "../jobs/job-dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";

/** The maximum number of ids that one job accepts. */
const RUNS_MAX = 500;

interface BulkBarProps {
  env: string;
  selected: readonly RunItem[];
  onClear: () => void;
}

export function BulkBar({ env, selected, onClear }: BulkBarProps) {
  const [asking, setAsking] = useState<"runs.rerun" | "runs.cancel" | null>(null);
  if (selected.length === 0) return null;
  const unfinished = selected.filter(({ status }) => !ENDED_STATUSES.has(status));
  const isTooMany = selected.length > RUNS_MAX;
  const runs = asking === "runs.cancel" ? unfinished : selected;
  return (
    <section className="bulk-bar" aria-label="Selected runs">
      <span className="strong">{plural(selected.length, "run")} selected</span>
      <button type="button" className="button small" disabled={isTooMany} onClick={() => setAsking("runs.rerun")}>
        <Icon name="refresh" size={14} /> Rerun
      </button>
      <button
        type="button"
        className="button small danger"
        disabled={isTooMany || unfinished.length === 0}
        onClick={() => setAsking("runs.cancel")}
      >
        <Icon name="slash" size={14} /> Cancel
      </button>
      {isTooMany && <span className="quiet small">At most {RUNS_MAX}. For more, filter the list and choose all of it.</span>}
      <span className="grow" />
      <button type="button" className="button bare small" onClick={onClear}>
        <Icon name="x" size={14} /> Clear selection
      </button>
      {asking && (
        <JobDialog
          env={env}
          request={{ kind: asking, filter: { run: runs.map(({ id }) => id).join(",") } }}
          onClose={() => setAsking(null)}
        />
      )}
    </section>
  );
}
