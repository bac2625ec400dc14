/** Making a key, and showing it the one time it can be shown. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import type { Key } from "../api/types.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { AcceptListFields, draftOf, listOf } from "./accept-list-field.tsx";

export function CreateKeyDialog({ env, kind, onClose }: { env: string; kind: Key["kind"]; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("admin");
  const [environments, setEnvironments] = useState("");
  const [eventNames, setEventNames] = useState(draftOf(null));
  const [ips, setIps] = useState(draftOf(null));
  const [made, setMade] = useState<Key | null>(null);
  const queries = useQueryClient();
  if (made) return <MadeKeyDialog made={made} onClose={onClose} />;

  async function create() {
    const lists = kind === "event" ? { eventNames: listOf(eventNames), ips: listOf(ips) } : {};
    const body = { kind, name: name.trim(), ...lists, ...(kind === "api" && { role, environments: namesIn(environments) }) };
    const created = await call<Key>("/keys", { method: "POST", env, body });
    await queries.invalidateQueries({ queryKey: ["keys"] });
    setMade(created);
  }

  return (
    <FormDialog title={`New ${kind === "api" ? "API" : kind} key`} submit="Create" onClose={onClose} onSubmit={create}>
      <label className="field">
        <span>Name</span>
        <input
          className="input"
          required
          maxLength={128}
          value={name}
          placeholder="Who will use it"
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      {kind === "api" && (
        <label className="field">
          <span>Environments</span>
          <input className="input" value={environments} placeholder="All" onChange={({ target }) => setEnvironments(target.value)} />
          <small>Names with commas between, to limit it to them; branch stands for every branch environment.</small>
        </label>
      )}
      {kind === "api" && (
        <label className="field">
          <span>Role</span>
          <select className="input" value={role} onChange={({ target }) => setRole(target.value)}>
            <option value="admin">admin: may do everything</option>
            <option value="ingest-admin">ingest-admin: may manage webhooks and event keys, and see events</option>
            <option value="read">read: may look, not change</option>
          </select>
        </label>
      )}
      {kind === "event" && (
        <AcceptListFields
          eventNames={eventNames}
          onEventNames={setEventNames}
          namesHint="One per line; a name may end in *"
          namesPlaceholder="shop/*"
          ips={ips}
          onIps={setIps}
        />
      )}
    </FormDialog>
  );
}

/** Null where none is named: all of them. */
function namesIn(text: string): string[] | null {
  const names = text.split(",").map((name) => name.trim());
  return names.some(Boolean) ? names.filter(Boolean) : null;
}

function MadeKeyDialog({ made, onClose }: { made: Key; onClose: () => void }) {
  return (
    <Dialog title={`${made.name} is made`} onClose={onClose}>
      <Notice kind="warn" icon="alert">
        Copy it now: it is shown this once.
      </Notice>
      <CodeBlock text={made.key ?? ""} label="Copy key" />
      {made.kind === "event" && (
        <p className="second">
          Give it to your application as <code>SERVICE_EVENT_KEY</code>.
        </p>
      )}
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
