/** Settings of a webhook: name, lists, enabled or disabled, and the button that deletes it. */

import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { call } from "../api/client.ts";
import { webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { AcceptListFields, draftOf, listOf } from "../keys/accept-list-field.tsx";
import { Icon } from "../ui/icon.tsx";
import { withToast } from "../ui/toasts.tsx";
import { ChecksForm } from "./checks-form.tsx";
import { MirrorForm } from "./mirror-form.tsx";
import { useFormDraft } from "./use-form-draft.ts";

export function SettingsTab({ webhook, onDelete }: { webhook: Webhook; onDelete: () => void }) {
  const { draft, changed, change, reset } = useFormDraft(draftOfSettings(webhook));
  const { name, enabled, eventNames, ips } = draft;
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();

  async function save(event: FormEvent) {
    event.preventDefault();
    const path = `/webhooks/${encodeURIComponent(webhook.id)}`;
    const saved = await withToast(call<Webhook>(path, { method: "PUT", body: settingsBody(changed) }), "Saved.");
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    reset();
    await reload(queries, ["webhooks"]);
  }

  return (
    <>
      <form className="card card-body stack settings-form" onSubmit={save}>
        <label className="field">
          <span>Name</span>
          <input className="input" required maxLength={128} value={name} onChange={({ target }) => change({ name: target.value })} />
        </label>
        <label className="switch">
          <input type="checkbox" checked={enabled} onChange={({ target }) => change({ enabled: target.checked })} /> Accept requests
        </label>
        <AcceptListFields
          eventNames={eventNames}
          onEventNames={(eventNames) => change({ eventNames })}
          namesHint="One per line; a name may end in *. Applies to the event that the transform returns."
          namesPlaceholder="stripe/*"
          ips={ips}
          onIps={(ips) => change({ ips })}
        />
        {mayChange && (
          <div className="row">
            <button type="submit" className="button primary">
              Save
            </button>
            <span className="grow" />
            <button type="button" className="button danger" onClick={onDelete}>
              <Icon name="trash" /> Delete webhook
            </button>
          </div>
        )}
      </form>
      <ChecksForm webhook={webhook} />
      {webhook.environment !== "branch" && <MirrorForm webhook={webhook} />}
    </>
  );
}

function draftOfSettings({ name, enabled, eventNames, ips }: Webhook) {
  return { name, enabled, eventNames: draftOf(eventNames), ips: draftOf(ips) };
}

function settingsBody({ name, enabled, eventNames, ips }: Partial<ReturnType<typeof draftOfSettings>>) {
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(enabled !== undefined && { enabled }),
    ...(eventNames && { eventNames: listOf(eventNames) }),
    ...(ips && { ips: listOf(ips) }),
  };
}
