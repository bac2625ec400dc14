/** Settings of a webhook: name, lists, enabled or disabled, deletion. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call } from "../api/client.ts";
import { webhookQuery } from "../api/queries.ts";
import { useMayChange } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { AcceptListFields, draftOf, listOf } from "../keys/accept-list-field.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { ChecksForm } from "./checks-form.tsx";
import { MirrorForm } from "./mirror-form.tsx";

export function SettingsTab({ env, webhook }: { env: string; webhook: Webhook }) {
  const [name, setName] = useState(webhook.name);
  const [enabled, setEnabled] = useState(webhook.enabled);
  const [eventNames, setEventNames] = useState(draftOf(webhook.eventNames));
  const [ips, setIps] = useState(draftOf(webhook.ips));
  const [deleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const mayChange = useMayChange();

  async function save(event: FormEvent) {
    event.preventDefault();
    const body = { name: name.trim(), enabled, eventNames: listOf(eventNames), ips: listOf(ips) };
    const saved = await withToast(call<Webhook>(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "PUT", body }), "Saved.");
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    await queries.invalidateQueries({ queryKey: ["webhooks"] });
  }

  return (
    <>
      <form className="card card-body stack settings-form" onSubmit={save}>
        <label className="field">
          <span>Name</span>
          <input className="input" required maxLength={128} value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="switch">
          <input type="checkbox" checked={enabled} onChange={({ target }) => setEnabled(target.checked)} /> Accept requests
        </label>
        <AcceptListFields
          eventNames={eventNames}
          onEventNames={setEventNames}
          namesHint="One per line; a name may end in *. Applies to the event that the transform returns."
          namesPlaceholder="stripe/*"
          ips={ips}
          onIps={setIps}
        />
        {mayChange && (
          <div className="row">
            <button type="submit" className="button primary">
              Save
            </button>
            <span className="grow" />
            <button type="button" className="button danger" onClick={() => setDeleting(true)}>
              <Icon name="trash" /> Delete webhook
            </button>
          </div>
        )}
      </form>
      <ChecksForm webhook={webhook} />
      {webhook.environment !== "branch" && <MirrorForm webhook={webhook} />}
      {deleting && <DeleteDialog env={env} webhook={webhook} onClose={() => setDeleting(false)} />}
    </>
  );
}

function DeleteDialog({ env, webhook, onClose }: { env: string; webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  async function remove() {
    await call(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "DELETE" });
    await queries.invalidateQueries({ queryKey: ["webhooks"] });
    toast("ok", `${webhook.name} deleted.`);
    await navigate({ to: "/env/$env/webhooks", params: { env } });
  }
  return (
    <FormDialog title={`Delete ${webhook.name}?`} submit="Delete" danger onClose={onClose} onSubmit={remove}>
      <p className="second">Its URL returns 404 from then on and is never reused. Its events remain.</p>
    </FormDialog>
  );
}
