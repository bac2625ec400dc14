/** Creates a key and shows it once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import type { Key } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { KeyFields, keyBody, useKeyDraft } from "./key-fields.tsx";
import { NewKeysDialog } from "./new-keys-dialog.tsx";

export function CreateKeyDialog({ env, kind, onClose }: { env: string; kind: Key["kind"]; onClose: () => void }) {
  const [draft, change] = useKeyDraft(env);
  const [created, setCreated] = useState<Key | null>(null);
  const queries = useQueryClient();
  if (created) return <NewKeysDialog title={`${created.name} created`} keys={[created]} onClose={onClose} />;

  async function create() {
    const key = await call<Key>("/keys", { method: "POST", env, body: { kind, ...keyBody(kind, draft) } });
    // At once: no later response has the key.
    setCreated(key);
    await reload(queries, ["keys"]);
  }

  return (
    <FormDialog title={`New ${kind === "api" ? "API" : kind} key`} submit="Create" onClose={onClose} onSubmit={create}>
      <KeyFields env={env} kind={kind} draft={draft} change={change} />
    </FormDialog>
  );
}
