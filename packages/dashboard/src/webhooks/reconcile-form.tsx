/** Sets the reconciliation of a webhook: whose list is asked, how often, and how far back. */

import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { call } from "../api/client.ts";
import { webhookQuery } from "../api/queries.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { withToast } from "../ui/toasts.tsx";
import { Choice, Field, SecretsField } from "./form-fields.tsx";
import { draftOfReconcile, OWN_SOURCE, optionsOf, RECONCILE_CHOICES, type ReconcileDraft, reconcileBody } from "./reconcile-draft.ts";
import { useFormDraft } from "./use-form-draft.ts";

export function ReconcileForm({ webhook }: { webhook: Webhook }) {
  const { draft, change, reset } = useFormDraft(draftOfReconcile(webhook));
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  if (!mayChange) return null;

  async function save(event: FormEvent) {
    event.preventDefault();
    const path = `/webhooks/${encodeURIComponent(webhook.id)}`;
    const reconcile = reconcileBody(draft);
    const said = reconcile ? `Saved. The next pass comes in ${reconcile.every}.` : "Reconciliation is off.";
    const saved = await withToast(call<Webhook>(path, { method: "PUT", body: { reconcile } }), said);
    if (!saved) return;
    queries.setQueryData(webhookQuery(webhook.id).queryKey, saved);
    reset();
  }

  return (
    <form className="card card-body stack settings-form" onSubmit={save} aria-label="Reconciliation">
      <Choice
        label="Compare with the list of"
        value={draft.from}
        options={RECONCILE_CHOICES}
        none="None: off"
        onChange={(from) => change({ from })}
      />
      {draft.from !== "" && <ReconcileFields draft={draft} change={change} shown={webhook.reconcile?.secrets ?? []} />}
      <div className="row wrap">
        <button type="submit" className="button primary">
          Update reconciliation
        </button>
        <a className="small" href="/docs/how-to/reconciliation">
          How reconciliation works
        </a>
      </div>
    </form>
  );
}

interface ReconcileFieldsProps {
  draft: ReconcileDraft;
  change: (changes: Partial<ReconcileDraft>) => void;
  shown: NonNullable<Webhook["reconcile"]>["secrets"];
}

function ReconcileFields({ draft, change, shown }: ReconcileFieldsProps) {
  const text = (label: string, value: string, onChange: (value: string) => void, isRequired = true) => (
    <Field key={label} label={label}>
      <input className="input" required={isRequired} spellCheck={false} value={value} onChange={({ target }) => onChange(target.value)} />
    </Field>
  );
  return (
    <>
      {draft.from === OWN_SOURCE && (
        <Field label="Source: JavaScript with the functions request and read">
          <textarea
            className="input code"
            rows={10}
            required
            spellCheck={false}
            value={draft.source}
            onChange={({ target }) => change({ source: target.value })}
          />
        </Field>
      )}
      {optionsOf(draft.from).map(([name, option]) => (
        <PresetOption key={name} name={name} option={option} draft={draft} change={change} />
      ))}
      <SecretsField
        label="Keys of the provider's API, one per line"
        value={draft.secrets}
        shown={shown}
        onChange={(secrets) => change({ secrets })}
      />
      {text("Every (such as 15m)", draft.every, (every) => change({ every }))}
      {text("Look back (such as 72h)", draft.lookBack, (lookBack) => change({ lookBack }))}
      {draft.from !== OWN_SOURCE &&
        text("Origin of the API; empty: the provider's own", draft.baseUrl, (baseUrl) => change({ baseUrl }), false)}
    </>
  );
}

interface PresetOptionProps extends Omit<ReconcileFieldsProps, "shown"> {
  name: string;
  option: ReturnType<typeof optionsOf>[number][1];
}

function PresetOption({ name, option: { isList, isRequired, description }, draft, change }: PresetOptionProps) {
  const props = { className: "input", required: isRequired, spellCheck: false, value: draft.options[name] ?? "" };
  const set = (value: string) => change({ options: { ...draft.options, [name]: value } });
  return (
    <Field label={`${name}${isList ? ", one per line" : ""}`}>
      {isList ? (
        <textarea {...props} rows={2} onChange={({ target }) => set(target.value)} />
      ) : (
        <input {...props} onChange={({ target }) => set(target.value)} />
      )}
      <small>{description.replaceAll("`", "")}</small>
    </Field>
  );
}
