/** Creates an environment, and shows the keys of a custom one once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import type { EnvironmentKind, Key } from "../api/types.ts";
import { ShownKey } from "../keys/create-key-dialog.tsx";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";
import { DatabaseField, DIRECTORY, useDatabases } from "./databases-section.tsx";

export function CreateEnvironment({ kind, onClose }: { kind: EnvironmentKind; onClose: () => void }) {
  const [name, setName] = useState("");
  const [database, setDatabase] = useState(DIRECTORY);
  const [keys, setKeys] = useState<Key[] | null>(null);
  const databases = useDatabases();
  const queries = useQueryClient();
  if (keys) return <FirstKeysDialog environment={name.trim()} keys={keys} onClose={onClose} />;
  async function create() {
    const body = { name: name.trim(), kind, ...(database !== DIRECTORY && { database }) };
    const created = await call<{ keys?: Key[] }>("/environments", { method: "POST", body });
    await Promise.all(["environments", "databases"].map((key) => queries.invalidateQueries({ queryKey: [key] })));
    toast("ok", `${name.trim()} created.`);
    if (created.keys) setKeys(created.keys);
    else onClose();
  }
  return (
    <FormDialog
      title={kind === "branch" ? "New branch environment" : "New custom environment"}
      submit="Create"
      onClose={onClose}
      onSubmit={create}
    >
      <label className="field">
        <span>Name</span>
        <input
          className="input mono"
          required
          value={name}
          placeholder={kind === "branch" ? "feature/cart" : "staging"}
          onChange={({ target }) => setName(target.value)}
        />
        <small>Letters, digits and . _ - /</small>
      </label>
      {kind === "custom" && databases.length > 1 && (
        <DatabaseField label="Database" databases={databases} value={database} onChange={setDatabase} />
      )}
    </FormDialog>
  );
}

/** The keys that a custom environment is created with. */
function FirstKeysDialog({ environment, keys, onClose }: { environment: string; keys: Key[]; onClose: () => void }) {
  return (
    <Dialog title={`Keys of ${environment}`} onClose={onClose}>
      <Notice kind="warn" icon="alert">
        Copy the keys now. They are shown only once.
      </Notice>
      {keys.map((key) => (
        <ShownKey key={key.id} shown={key} />
      ))}
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          I have copied them
        </button>
      </div>
    </Dialog>
  );
}
