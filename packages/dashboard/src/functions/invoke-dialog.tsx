/** Invokes one function with data; no other function runs. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { formatJson, readJsonText } from "../api/json-text.ts";
import { eventPage } from "../api/queries.ts";
import type { FunctionItem } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { messageOf, Notice } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";

interface InvokeDialogProps {
  env: string;
  fn: FunctionItem;
  onClose: () => void;
}

/** Starts with the data of the newest event of a trigger, which is likely to be valid; without any if that event cannot be loaded. */
export function InvokeDialog({ env, fn, onClose }: InvokeDialogProps) {
  const name = fn.triggers.find(({ event }) => event !== undefined)?.event;
  const { data, error, isFetched } = useQuery({
    queryKey: ["events", env, "newest", name],
    queryFn: () => eventPage(env, { name, limit: 1 }),
    enabled: name !== undefined,
    gcTime: 0,
    retry: false,
  });
  // Also while it is loaded once more after an outage: what is typed stays.
  if (name !== undefined && !isFetched) return null;
  return <DataDialog env={env} fn={fn} initial={data?.items[0]?.data ?? "{}"} error={error} onClose={onClose} />;
}

function DataDialog({ env, fn, initial, error, onClose }: InvokeDialogProps & { initial: string; error: Error | null }) {
  const [text, setText] = useState(() => formatJson(initial));
  const navigate = useNavigate();
  async function invoke() {
    if (readJsonText(text) === null) throw new Error("The data is not valid JSON.");
    const path = `/functions/${encodeURIComponent(fn.id)}/invoke`;
    const { runId } = await call<{ runId: string | null }>(path, { method: "POST", env, bodyText: `{"data":${text}}` });
    onClose();
    if (runId === null) return toast("ok", "Invoked. The function's rules about starts decide when it runs.");
    toast("ok", "Invoked.");
    await navigate({ to: "/env/$env/runs/$id", params: { env, id: runId } });
  }
  return (
    <FormDialog title={`Invoke ${fn.name}`} submit="Invoke" wide onClose={onClose} onSubmit={invoke}>
      <p>Starts one run of this function, whatever its triggers. Other functions do not run.</p>
      {error && (
        <Notice kind="bad" icon="alert">
          The newest event could not be loaded: {messageOf(error)}
        </Notice>
      )}
      <label className="field">
        <span>Data</span>
        <textarea className="input" rows={12} value={text} spellCheck={false} onChange={({ target }) => setText(target.value)} />
        <small>A JSON object, the data of its event.</small>
      </label>
    </FormDialog>
  );
}
