/** Verification, handshake and answer of a webhook. Secrets are entered and never shown: empty fields keep the current ones. */

import { HANDSHAKE_PRESETS, VERIFY_SCHEMES } from "@inlet/protocol/webhook-settings";
import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { call } from "../api/client.ts";
import { webhookQuery } from "../api/queries.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { ShownSecret, Webhook } from "../api/types.ts";
import { withToast } from "../ui/toasts.tsx";
import { type ChecksDraft, CONTENT_TYPES, checksBody, draftOfChecks, SCHEME_FIELDS, STATUSES } from "./checks-draft.ts";
import { Choice, Field, SecretsField } from "./form-fields.tsx";
import { useFormDraft } from "./use-form-draft.ts";

export function ChecksForm({ webhook }: { webhook: Webhook }) {
  const { draft, changed, change, reset } = useFormDraft(draftOfChecks(webhook));
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();

  async function save(event: FormEvent) {
    event.preventDefault();
    const path = `/webhooks/${encodeURIComponent(webhook.id)}`;
    const saved = await withToast(call<Webhook>(path, { method: "PUT", body: checksBody(draft, changed) }), "Saved.");
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    reset();
  }

  return (
    <form className="card card-body stack settings-form" onSubmit={save} aria-label="Verification, handshake and response">
      <VerifyFields draft={draft} change={change} shown={webhook.verify?.secrets ?? []} />
      <HandshakeFields draft={draft} change={change} shown={webhook.handshake?.secrets ?? []} />
      <AnswerFields draft={draft} change={change} />
      {mayChange && (
        <div>
          <button type="submit" className="button primary">
            Update checks
          </button>
        </div>
      )}
    </form>
  );
}

interface PartProps {
  draft: ChecksDraft;
  change: (changes: Partial<ChecksDraft>) => void;
}

function VerifyFields({ draft, change, shown }: PartProps & { shown: readonly ShownSecret[] }) {
  const fields = SCHEME_FIELDS[draft.scheme] ?? [];
  return (
    <>
      <Choice
        label="Verification"
        value={draft.scheme}
        options={VERIFY_SCHEMES}
        none="None: verify in the function"
        onChange={(scheme) => change({ scheme })}
      />
      {draft.scheme !== "" && (
        <>
          {fields.map((name) => (
            <Field key={name} label={name}>
              <input
                className="input"
                value={draft.fields[name] ?? ""}
                onChange={({ target }) => change({ fields: { ...draft.fields, [name]: target.value } })}
              />
            </Field>
          ))}
          <Field label="Tolerance in seconds">
            <input
              className="input"
              type="number"
              min={1}
              value={draft.tolerance}
              onChange={({ target }) => change({ tolerance: target.value })}
            />
          </Field>
          <SecretsField label="Secrets, one per line" value={draft.secrets} shown={shown} onChange={(secrets) => change({ secrets })} />
        </>
      )}
    </>
  );
}

function HandshakeFields({ draft, change, shown }: PartProps & { shown: readonly ShownSecret[] }) {
  return (
    <>
      <Choice
        label="Handshake"
        value={draft.handshake}
        options={[...HANDSHAKE_PRESETS, "function"]}
        none="None"
        onChange={(handshake) => change({ handshake })}
      />
      {draft.handshake === "function" && (
        <Field label="Handshake function, JavaScript">
          <textarea className="input code" rows={6} value={draft.source} onChange={({ target }) => change({ source: target.value })} />
        </Field>
      )}
      {draft.handshake !== "" && (
        <SecretsField
          label="Handshake secrets, one per line; empty: use the verification secrets"
          value={draft.handshakeSecrets}
          shown={shown}
          onChange={(handshakeSecrets) => change({ handshakeSecrets })}
        />
      )}
    </>
  );
}

function AnswerFields({ draft, change }: PartProps) {
  return (
    <>
      <Choice
        label="Response to accepted requests"
        value={draft.status}
        options={STATUSES}
        none="The Event IDs"
        onChange={(status) => change({ status })}
      />
      {draft.status !== "" && draft.status !== "204" && (
        <>
          <Choice
            label="Content type"
            value={draft.contentType}
            options={CONTENT_TYPES}
            onChange={(contentType) => change({ contentType })}
          />
          <Field label="Body">
            <textarea className="input code" rows={3} value={draft.body} onChange={({ target }) => change({ body: target.value })} />
          </Field>
        </>
      )}
    </>
  );
}
