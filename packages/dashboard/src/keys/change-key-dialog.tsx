/** Changes what a key allows. The key itself stays the same. */

import { useQueryClient } from "@tanstack/react-query";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import type { Key } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";
import { KeyFields, keyBody, useKeyDraft } from "./key-fields.tsx";

export function ChangeKeyDialog({ env, changed, onClose }: { env: string; changed: Key; onClose: () => void }) {
  const [draft, change] = useKeyDraft(env, changed);
  const queries = useQueryClient();
  async function save() {
    await call(`/keys/${encodeURIComponent(changed.id)}`, { method: "PUT", env, body: keyBody(changed.kind, draft) });
    await reload(queries, ["keys"]);
    toast("ok", `${draft.name.trim()} changed.`);
    onClose();
  }
  return (
    <FormDialog title={`Change ${changed.name}`} submit="Save" onClose={onClose} onSubmit={save}>
      <p className="second">
        <code>{changed.prefix}…</code> stays the same. What it allows changes within a second, also for open connections.
      </p>
      <KeyFields env={env} kind={changed.kind} draft={draft} change={change} />
    </FormDialog>
  );
}
