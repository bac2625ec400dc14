/** Creates a key and shows it once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { useIsUnrestricted } from "../api/session.ts";
import type { Key } from "../api/types.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { AcceptListFields, draftOf, listOf } from "./accept-list-field.tsx";

export function CreateKeyDialog({ env, kind, onClose }: { env: string; kind: Key["kind"]; onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("admin");
  const isUnrestricted = useIsUnrestricted();
  const [environments, setEnvironments] = useState(isUnrestricted ? "" : env);
  const [eventNames, setEventNames] = useState(draftOf(null));
  const [ips, setIps] = useState(draftOf(null));
  const [created, setCreated] = useState<Key | null>(null);
  const queries = useQueryClient();
  if (created) return <CreatedKeyDialog created={created} onClose={onClose} />;

  async function create() {
    const lists = kind === "event" ? { eventNames: listOf(eventNames), ips: listOf(ips) } : {};
    const body = { kind, name: name.trim(), ...lists, ...(kind === "api" && { role, environments: namesIn(environments) }) };
    const key = await call<Key>("/keys", { method: "POST", env, body });
    await queries.invalidateQueries({ queryKey: ["keys"] });
    setCreated(key);
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
          placeholder="Who uses this key"
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      {kind === "api" && (
        <label className="field">
          <span>Environments</span>
          <input
            className="input"
            value={environments}
            placeholder={isUnrestricted ? "All" : env}
            onChange={({ target }) => setEnvironments(target.value)}
          />
          <small>
            Comma-separated names, to restrict the key to these environments. "branch" stands for all branch environments, "payments-*" for
            all whose name begins with "payments-".
          </small>
        </label>
      )}
      {kind === "api" && (
        <label className="field">
          <span>Role</span>
          <select className="input" value={role} onChange={({ target }) => setRole(target.value)}>
            <option value="owner">owner: full access, manages owners</option>
            <option value="admin">admin: full access</option>
            <option value="operator">operator: read-only, and repairs runs and requests</option>
            <option value="ingest-admin">ingest-admin: manages webhooks, reads events</option>
            <option value="viewer">viewer: read-only</option>
            <option value="metrics">metrics: reads /metrics only</option>
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

/** Null if the text is empty: all environments. */
function namesIn(text: string): string[] | null {
  const names = text.split(",").map((name) => name.trim());
  return names.some(Boolean) ? names.filter(Boolean) : null;
}

function CreatedKeyDialog({ created, onClose }: { created: Key; onClose: () => void }) {
  return (
    <Dialog title={`${created.name} created`} onClose={onClose}>
      <Notice kind="warn" icon="alert">
        Copy the key now. It is shown only once.
      </Notice>
      <ShownKey shown={created} />
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}

const VARIABLES: Partial<Record<Key["kind"], string>> = { event: "SERVICE_EVENT_KEY", signing: "INLET_SIGNING_KEY" };

/** The text of a new key, and where it belongs. */
export function ShownKey({ shown: { kind, key = "" } }: { shown: Key }) {
  const variable = VARIABLES[kind];
  return (
    <>
      <CodeBlock text={key} label={`Copy ${kind === "api" ? "API" : kind} key`} />
      {variable && (
        <p className="second">
          Set it in your application as <code>{variable}</code>.
        </p>
      )}
    </>
  );
}
