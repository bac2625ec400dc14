/** Creates a key and shows it once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import type { Key } from "../api/types.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/states.tsx";
import { KeyFields, keyBody, useKeyDraft } from "./key-fields.tsx";

export function CreateKeyDialog({ env, kind, onClose }: { env: string; kind: Key["kind"]; onClose: () => void }) {
  const [draft, change] = useKeyDraft(env);
  const [created, setCreated] = useState<Key | null>(null);
  const queries = useQueryClient();
  if (created) return <CreatedKeyDialog created={created} onClose={onClose} />;

  async function create() {
    const key = await call<Key>("/keys", { method: "POST", env, body: { kind, ...keyBody(kind, draft) } });
    await queries.invalidateQueries({ queryKey: ["keys"] });
    setCreated(key);
  }

  return (
    <FormDialog title={`New ${kind === "api" ? "API" : kind} key`} submit="Create" onClose={onClose} onSubmit={create}>
      <KeyFields env={env} kind={kind} draft={draft} change={change} />
    </FormDialog>
  );
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
