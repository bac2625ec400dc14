/** Actions on the selected runs: one job reruns or cancels all of them. */

import { useState } from "react";
import type { JobRequest } from "../api/jobs.ts";
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
  // The runs that were selected when it was asked: they may end meanwhile, or leave the list.
  const [asked, setAsked] = useState<JobRequest | null>(null);
  if (selected.length === 0 && !asked) return null;
  const unfinished = selected.filter(({ status }) => !ENDED_STATUSES.has(status));
  const isTooMany = selected.length > RUNS_MAX;
  const ask = (kind: JobRequest["kind"], runs: readonly RunItem[]) =>
    setAsked({ kind, filter: { run: runs.map(({ id }) => id).join(",") } });
  return (
    <section className="bulk-bar" aria-label="Selected runs">
      <span className="strong">{plural(selected.length, "run")} selected</span>
      <button type="button" className="button small" disabled={isTooMany} onClick={() => ask("runs.rerun", selected)}>
        <Icon name="refresh" size={14} /> Rerun
      </button>
      <button
        type="button"
        className="button small danger"
        disabled={isTooMany || unfinished.length === 0}
        onClick={() => ask("runs.cancel", unfinished)}
      >
        <Icon name="slash" size={14} /> Cancel
      </button>
      {isTooMany && <span className="quiet small">At most {RUNS_MAX}. For more, filter the list and choose all of it.</span>}
      <span className="grow" />
      <button type="button" className="button bare small" onClick={onClear}>
        <Icon name="x" size={14} /> Clear selection
      </button>
      {asked && <JobDialog env={env} request={asked} onClose={() => setAsked(null)} />}
    </section>
  );
}
