/** What can be done with the selected runs: each is rerun or cancelled by a request of its own, and failures are counted. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import type { RunItem } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { messageOf } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";

const ENDED = new Set(["completed", "failed", "cancelled"]);

interface BulkBarProps {
  env: string;
  selected: readonly RunItem[];
  onClear: () => void;
}

export function BulkBar({ env, selected, onClear }: BulkBarProps) {
  const [asking, setAsking] = useState<"rerun" | "cancel" | null>(null);
  if (selected.length === 0) return null;
  const unfinished = selected.filter(({ status }) => !ENDED.has(status));
  return (
    <section className="bulk-bar" aria-label="Selected runs">
      <span className="strong">{plural(selected.length, "run")} selected</span>
      <button type="button" className="button small" onClick={() => setAsking("rerun")}>
        <Icon name="refresh" size={14} /> Rerun
      </button>
      <button type="button" className="button small danger" disabled={unfinished.length === 0} onClick={() => setAsking("cancel")}>
        <Icon name="slash" size={14} /> Cancel
      </button>
      <span className="grow" />
      <button type="button" className="button bare small" onClick={onClear}>
        <Icon name="x" size={14} /> Clear selection
      </button>
      {asking && (
        <ConfirmDialog
          env={env}
          action={asking}
          runs={asking === "cancel" ? unfinished : selected}
          onClose={() => setAsking(null)}
          onDone={() => {
            setAsking(null);
            onClear();
          }}
        />
      )}
    </section>
  );
}

interface ConfirmDialogProps {
  env: string;
  action: "rerun" | "cancel";
  runs: readonly RunItem[];
  onClose: () => void;
  onDone: () => void;
}

const SAMPLES = 5;

function ConfirmDialog({ env, action, runs, onClose, onDone }: ConfirmDialogProps) {
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const word = action === "rerun" ? "Rerun" : "Cancel";
  async function work() {
    const failures: unknown[] = [];
    for (const { id } of runs) {
      await call(`/runs/${encodeURIComponent(id)}/${action}`, { method: "POST", env }).catch((error) => failures.push(error));
      setDone((before) => before + 1);
    }
    void queries.invalidateQueries({ queryKey: ["runs", env] });
    const said = `${plural(runs.length - failures.length, "run")} ${action === "rerun" ? "started again" : "cancelled"}`;
    if (failures.length === 0) toast("ok", said);
    else toast("bad", `${said}, ${failures.length} failed: ${messageOf(failures[0])}`);
    onDone();
  }
  return (
    <FormDialog
      title={`${word} ${plural(runs.length, "run")}?`}
      submit={word}
      danger={action === "cancel"}
      onClose={onClose}
      onSubmit={work}
    >
      <ul className="run-samples">
        {runs.slice(0, SAMPLES).map(({ id, function: fn, event }) => (
          <li key={id} className="row">
            <span className="strong">{fn.name}</span> <span className="quiet small mono cut">{event?.preview || id}</span>
          </li>
        ))}
        {runs.length > SAMPLES && <li className="quiet">and {runs.length - SAMPLES} more</li>}
      </ul>
      {done > 0 && <progress value={done} max={runs.length} aria-label={`${done} of ${runs.length}`} />}
    </FormDialog>
  );
}
