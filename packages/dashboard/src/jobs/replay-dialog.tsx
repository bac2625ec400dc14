/** Replays events to the functions that subscribe to them now, or to one of them. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { JobRequest } from "../api/jobs.ts";
import { functionsQuery } from "../api/queries.ts";
import { JobDialog } from "./job-dialog.tsx";

interface ReplayDialogProps {
  env: string;
  request: JobRequest;
  onClose: () => void;
}

export function ReplayDialog({ env, request, onClose }: ReplayDialogProps) {
  const { data: functions = [] } = useQuery(functionsQuery(env));
  const [fn, setFn] = useState(request.function ?? "");
  return (
    <JobDialog env={env} request={{ ...request, ...(fn !== "" && { function: fn }) }} onClose={onClose}>
      <label className="field">
        <span>Run</span>
        <select className="input" value={fn} onChange={({ target }) => setFn(target.value)}>
          <option value="">all functions that subscribe now</option>
          {functions.map(({ id, name }) => (
            <option key={id} value={id}>
              only {name}
            </option>
          ))}
        </select>
        <small>The events are not stored again, and no waiting run is resumed. Trigger conditions apply.</small>
      </label>
    </JobDialog>
  );
}
