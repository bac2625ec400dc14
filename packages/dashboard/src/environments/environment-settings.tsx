/** The limits and the retention of one environment. An empty field applies the setting of the service. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import type { Environment } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";

const RETENTIONS = [
  { field: "events", label: "Keep events for" },
  { field: "runs", label: "Keep runs for" },
  { field: "requests", label: "Keep webhook requests for" },
] as const;

export function EnvironmentSettings({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { name, bodyLimitBytes, retention } = environment;
  const [limit, setLimit] = useState(bodyLimitBytes === null ? "" : String(bodyLimitBytes));
  const [kept, setKept] = useState({ events: retention.events ?? "", runs: retention.runs ?? "", requests: retention.requests ?? "" });
  const queries = useQueryClient();
  async function save() {
    const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
    const body = {
      bodyLimitBytes: limit.trim() === "" ? null : Number(limit),
      retention: { events: orNull(kept.events), runs: orNull(kept.runs), requests: orNull(kept.requests) },
    };
    await call(`/environments/${encodeURIComponent(name)}`, { method: "PUT", body });
    await reload(queries, ["environments"]);
    toast("ok", `Settings of ${name} saved.`);
    onClose();
  }
  return (
    <FormDialog title={`Settings of ${name}`} submit="Save" onClose={onClose} onSubmit={save}>
      {RETENTIONS.map(({ field, label }) => (
        <label key={field} className="field">
          <span>{label}</span>
          <input
            className="input"
            placeholder="as set for the service"
            value={kept[field]}
            onChange={({ target }) => setKept({ ...kept, [field]: target.value })}
          />
        </label>
      ))}
      <p className="quiet small">A duration from 1m to 3660d, such as 30d or 12h. What is older is removed, and cannot be restored.</p>
      <label className="field">
        <span>Largest request body, in bytes</span>
        <input
          className="input"
          inputMode="numeric"
          pattern="[0-9]*"
          placeholder="as set for the service"
          value={limit}
          onChange={({ target }) => setLimit(target.value)}
        />
      </label>
    </FormDialog>
  );
}
