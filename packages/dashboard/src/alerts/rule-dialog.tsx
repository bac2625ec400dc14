/** Creates or changes an alert rule. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ALERT_KINDS, type AlertKind, type AlertRule, type AlertRuleFields, saveAlertRule } from "../api/alerts.ts";
import { functionsQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { toast } from "../ui/toasts.tsx";
import { ALERT_WORDS } from "./alert-words.ts";
import { namedOptions, spanOptions } from "./options.ts";
import { QuietHoursField } from "./quiet-hours-field.tsx";
import { SILENCE_WINDOW_S, SilenceFields } from "./silence-fields.tsx";

const NEW_RULE: AlertRuleFields = {
  name: "",
  kind: "failure_rate",
  function: null,
  webhook: null,
  event: null,
  threshold: 20,
  windowSeconds: 300,
  quietHours: null,
  enabled: true,
};
const WINDOWS_S = [60, 300, 900, 3_600, 21_600, 86_400];

export function RuleDialog({ env, rule, onClose }: { env: string; rule: AlertRule | null; onClose: () => void }) {
  const [draft, setDraft] = useState<AlertRuleFields>(fieldsOf(rule ?? NEW_RULE));
  const queries = useQueryClient();
  const change = (fields: Partial<AlertRuleFields>) => setDraft((before) => ({ ...before, ...fields }));
  const words = ALERT_WORDS[draft.kind];
  async function save() {
    const name = draft.name.trim();
    await saveAlertRule(env, rule?.id ?? null, { ...settled(draft), name });
    await reload(queries, ["alerts", env]);
    toast("ok", `${name} ${rule ? "saved" : "created"}.`);
    onClose();
  }
  return (
    <FormDialog title={rule ? `Edit ${rule.name}` : "New alert rule"} submit={rule ? "Save" : "Create"} onClose={onClose} onSubmit={save}>
      <TextField
        label="Name"
        required
        maxLength={128}
        value={draft.name}
        placeholder="Payments fail"
        hint="Shown in the banner, and part of the events."
        onChange={(name) => change({ name })}
      />
      <SelectField
        label="Measures"
        options={ALERT_KINDS.map((kind) => ({ value: kind, text: ALERT_WORDS[kind].label }))}
        value={draft.kind}
        hint={words.help}
        onChange={(kind) => change(ofKind(draft, kind as AlertKind))}
      />
      {words.takesFunction && <FunctionField env={env} value={draft.function} onChange={(id) => change({ function: id })} />}
      {draft.kind === "silence" && <SilenceFields env={env} draft={draft} onChange={change} />}
      {words.unit !== null && <ThresholdField draft={draft} unit={words.unit} onChange={(threshold) => change({ threshold })} />}
      {words.hasWindow && <WindowField value={draft.windowSeconds} onChange={(windowSeconds) => change({ windowSeconds })} />}
      <QuietHoursField value={draft.quietHours} onChange={(quietHours) => change({ quietHours })} />
      <label className="row">
        <input type="checkbox" checked={draft.enabled} onChange={({ target }) => change({ enabled: target.checked })} />
        Enabled
      </label>
    </FormDialog>
  );
}

/** What a rule has that it takes up when its kind is changed. */
function ofKind(draft: AlertRuleFields, kind: AlertKind): Partial<AlertRuleFields> {
  if (kind === "silence") return { kind, threshold: null, windowSeconds: SILENCE_WINDOW_S };
  return draft.kind === "silence" ? { kind, threshold: NEW_RULE.threshold, windowSeconds: NEW_RULE.windowSeconds } : { kind };
}

/** Fields that do not belong to the kind are left out. */
function settled(draft: AlertRuleFields): AlertRuleFields {
  if (draft.kind === "silence") return draft;
  return { ...draft, webhook: null, event: null, function: ALERT_WORDS[draft.kind].takesFunction ? draft.function : null };
}

function ThresholdField({ draft, unit, onChange }: { draft: AlertRuleFields; unit: string; onChange: (threshold: number) => void }) {
  const { threshold } = draft;
  return (
    <TextField
      label={`Threshold in ${unit}`}
      type="number"
      required
      min={0.001}
      max={draft.kind === "failure_rate" ? 100 : undefined}
      step="any"
      value={threshold === null || Number.isNaN(threshold) ? "" : threshold}
      hint="The alert is raised at this value or above, and resolved below it."
      onChange={(text) => onChange(text === "" ? Number.NaN : Number(text))}
    />
  );
}

function FunctionField({ env, value, onChange }: { env: string; value: string | null; onChange: (id: string | null) => void }) {
  const { data: functions = [] } = useQuery(functionsQuery(env));
  const options = [{ value: "", text: "All functions" }, ...namedOptions(functions, value)];
  return <SelectField label="Function" options={options} value={value ?? ""} onChange={(id) => onChange(id || null)} />;
}

function WindowField({ value, onChange }: { value: AlertRuleFields["windowSeconds"]; onChange: (seconds: number) => void }) {
  const options = spanOptions([...WINDOWS_S, Number(value)]);
  return <SelectField label="Within the last" options={options} value={value} onChange={(seconds) => onChange(Number(seconds))} />;
}

function fieldsOf({ name, kind, threshold, windowSeconds, quietHours, enabled, ...rule }: AlertRuleFields): AlertRuleFields {
  const { function: functionId, webhook, event } = rule;
  return { name, kind, function: functionId, webhook, event, threshold, windowSeconds, quietHours, enabled };
}
