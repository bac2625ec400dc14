/** What can be done about a group of failures: rerun its runs, resolve it, ignore it, open it again. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { decideFailure, type FailureGroup, type FailureState } from "../api/failures.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import { JobDialog } from "../jobs/job-dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { withToast } from "../ui/toasts.tsx";
import type { RunSearch } from "./run-search.ts";

const DONE = {
  open: "The failure is open again.",
  resolved: "Resolved. It is open again if it happens again.",
  ignored: "Ignored until you open it again.",
};

interface FailureActionsProps {
  env: string;
  group: FailureGroup;
  /** Selects the runs of the group that were not rerun yet. */
  search: RunSearch & { from: number };
}

export function FailureActions({ env, group, search }: FailureActionsProps) {
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  if (!mayRepair) return null;
  async function decide(state: FailureState) {
    await withToast(decideFailure(env, group, state), DONE[state]);
    await reload(queries, ["failures", env]);
  }
  const button = (state: FailureState, label: string) => (
    <button type="button" className="button small" onClick={() => void decide(state)}>
      {label}
    </button>
  );
  return (
    <div className="row wrap failure-actions">
      {group.count > 0 && (
        <button type="button" className="button small" onClick={() => setAsking(true)}>
          <Icon name="refresh" size={14} /> Rerun {plural(group.count, "run")}
        </button>
      )}
      {group.state === "open" && button("resolved", "Resolve")}
      {group.state === "open" && button("ignored", "Ignore")}
      {group.state !== "open" && group.decided && button("open", "Reopen")}
      {asking && <JobDialog env={env} request={{ kind: "runs.rerun", filter: { ...search } }} onClose={() => setAsking(false)} />}
    </div>
  );
}
