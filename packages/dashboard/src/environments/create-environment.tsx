/** Creates an environment, and shows the keys of a custom one once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import type { EnvironmentKind, Key } from "../api/types.ts";
import { NewKeysDialog } from "../keys/new-keys-dialog.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { toast } from "../ui/toasts.tsx";
import { DatabaseField, DIRECTORY, useDatabases } from "./databases-section.tsx";

export function CreateEnvironment({ kind, onClose }: { kind: EnvironmentKind; onClose: () => void }) {
  const [name, setName] = useState("");
  const [database, setDatabase] = useState(DIRECTORY);
  const [keys, setKeys] = useState<Key[] | null>(null);
  const databases = useDatabases();
  const queries = useQueryClient();
  if (keys) return <NewKeysDialog title={`Keys of ${name.trim()}`} keys={keys} onClose={onClose} />;
  async function create() {
    const body = { name: name.trim(), kind, ...(database !== DIRECTORY && { database }) };
    const created = await call<{ keys?: Key[] }>("/environments", { method: "POST", body });
    // At once: no later response has the keys.
    if (created.keys) setKeys(created.keys);
    await Promise.all(["environments", "databases"].map((key) => reload(queries, [key])));
    toast("ok", `${name.trim()} created.`);
    if (!created.keys) onClose();
  }
  return (
    <FormDialog
      title={kind === "branch" ? "New branch environment" : "New custom environment"}
      submit="Create"
      onClose={onClose}
      onSubmit={create}
    >
      <TextField
        label="Name"
        className="mono"
        required
        value={name}
        placeholder={kind === "branch" ? "feature/cart" : "staging"}
        hint="Letters, digits and . _ - /"
        onChange={setName}
      />
      {kind === "custom" && databases.length > 1 && (
        <DatabaseField label="Database" databases={databases} value={database} onChange={setDatabase} />
      )}
    </FormDialog>
  );
}
