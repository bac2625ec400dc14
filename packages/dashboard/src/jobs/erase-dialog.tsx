/** Erases the events of a list, after a count and a confirmation: it cannot be undone. */

import { useState } from "react";
import type { JobRequest } from "../api/jobs.ts";
import { Notice } from "../ui/states.tsx";
import { JobDialog } from "./job-dialog.tsx";

interface EraseDialogProps {
  env: string;
  request: JobRequest;
  onClose: () => void;
}

export function EraseDialog({ env, request, onClose }: EraseDialogProps) {
  const [name, setName] = useState("");
  return (
    <JobDialog env={env} request={request} isConfirmed={name.trim() === env} onClose={onClose}>
      <Notice kind="bad" icon="alert">
        Payloads, results and log lines of these events and of their runs are overwritten. Unfinished runs are cancelled first. This cannot
        be undone; ids, names and times stay.
      </Notice>
      <label className="field">
        <span>Name of the environment</span>
        <input className="input" value={name} autoComplete="off" placeholder={env} onChange={({ target }) => setName(target.value)} />
        <small>Type it to confirm.</small>
      </label>
    </JobDialog>
  );
}
