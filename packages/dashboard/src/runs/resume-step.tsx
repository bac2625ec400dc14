/** Continues a run at a step that sleeps, or that waits for a signal. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { readJsonText } from "../api/json-text.ts";
import { runQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import type { Run, RunStep } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { toast, withToast } from "../ui/toasts.tsx";

interface ResumeStepProps {
  env: string;
  run: Run;
  step: RunStep;
}

export function ResumeStep({ env, run, step }: ResumeStepProps) {
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  const [isSignalling, setSignalling] = useState(false);
  const refresh = () => reload(queries, runQuery(env, run.id).queryKey);
  if (!mayRepair || run.endedAt !== null || step.endedAt !== null) return null;
  async function wake() {
    const path = `/runs/${encodeURIComponent(run.id)}/steps/${encodeURIComponent(step.id)}/wake`;
    await withToast(call(path, { method: "POST", env }), "The step was woken. The run continues.");
    await refresh();
  }
  if (step.kind === "sleep")
    return (
      <button type="button" className="button small" onClick={() => void wake()}>
        <Icon name="play" size={14} /> Wake now
      </button>
    );
  if (step.signal === null) return null;
  return (
    <>
      <button type="button" className="button small" onClick={() => setSignalling(true)}>
        <Icon name="send" size={14} /> Send signal
      </button>
      {isSignalling && <SignalDialog env={env} signal={step.signal} onSent={refresh} onClose={() => setSignalling(false)} />}
    </>
  );
}

interface SignalDialogProps {
  env: string;
  signal: string;
  onSent: () => Promise<unknown>;
  onClose: () => void;
}

function SignalDialog({ env, signal, onSent, onClose }: SignalDialogProps) {
  const [text, setText] = useState("{}");
  async function send() {
    if (readJsonText(text) === null) throw new Error("The data is not valid JSON.");
    await call("/signals", { method: "POST", env, bodyText: `{"signal":${JSON.stringify(signal)},"data":${text}}` });
    toast("ok", "Signal sent. The run goes on.");
    onClose();
    await onSent();
  }
  return (
    <FormDialog title="Send the signal" submit="Send signal" onClose={onClose} onSubmit={send}>
      <p>
        The run waits for <code>{signal}</code>. The step returns what you send.
      </p>
      <label className="field">
        <span>Data</span>
        <textarea className="input" rows={6} value={text} spellCheck={false} onChange={({ target }) => setText(target.value)} />
        <small>Any JSON value.</small>
      </label>
    </FormDialog>
  );
}
