/** Reruns a run from one of its steps: results of steps that ended before that step began are kept. */

import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/client.ts";
import { useMayRepair } from "../api/session.ts";
import type { Run, RunItem, RunStep } from "../api/types.ts";
import { Icon } from "../ui/icon.tsx";
import { withToast } from "../ui/toasts.tsx";

export function RerunFromStep({ env, run, step }: { env: string; run: Run; step: RunStep }) {
  const navigate = useNavigate();
  const mayRepair = useMayRepair();
  if (!mayRepair) return null;
  async function rerun() {
    const path = `/runs/${encodeURIComponent(run.id)}/rerun`;
    const created = await withToast(
      call<RunItem>(path, { method: "POST", env, body: { from: step.id } }),
      `Rerun started from ${step.name}. Results before it were kept.`,
    );
    if (created) await navigate({ to: "/env/$env/runs/$id", params: { env, id: created.id } });
  }
  return (
    <div>
      <button type="button" className="button small" onClick={() => void rerun()}>
        <Icon name="refresh" size={14} /> Rerun from this step
      </button>
    </div>
  );
}
