/** Creates or changes an alert rule. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ALERT_KINDS, type AlertKind, type AlertRule, type AlertRuleFields, saveAlertRule } from "../api/alerts.ts";
import { functionsQuery } from "../api/queries.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";
import { ALERT_WORDS, spanText } from "./alert-words.ts";
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
    await queries.invalidateQueries({ queryKey: ["alerts", env] });
    toast("ok", `${name} ${rule ? "saved" : "created"}.`);
    onClose();
  }
  return (
    <FormDialog title={rule ? `Edit ${rule.name}` : "New alert rule"} submit={rule ? "Save" : "Create"} onClose={onClose} onSubmit={save}>
      <label className="field">
        <span>Name</span>
        <input
          className="input"
          required
          maxLength={128}
          value={draft.name}
          placeholder="Payments fail"
          onChange={({ target }) => change({ name: target.value })}
        />
        <small>Shown in the banner, and part of the events.</small>
      </label>
      <label className="field">
        <span>Measures</span>
        <select className="input" value={draft.kind} onChange={({ target }) => change(ofKind(draft, target.value as AlertKind))}>
          {ALERT_KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {ALERT_WORDS[kind].label}
            </option>
          ))}
        </select>
        <small>{words.help}</small>
      </label>
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
    <label className="field">
      <span>Threshold in {unit}</span>
      <input
        className="input"
        type="number"
        required
        min={0.001}
        max={draft.kind === "failure_rate" ? 100 : undefined}
        step="any"
        value={threshold === null || Number.isNaN(threshold) ? "" : threshold}
        onChange={({ target }) => onChange(target.valueAsNumber)}
      />
      <small>The alert is raised at this value or above, and resolved below it.</small>
    </label>
  );
}

function FunctionField({ env, value, onChange }: { env: string; value: string | null; onChange: (id: string | null) => void }) {
  const { data: functions = [] } = useQuery(functionsQuery(env));
  const isGone = value !== null && !functions.some(({ id }) => id === value);
  return (
    <label className="field">
      <span>Function</span>
      <select className="input" value={value ?? ""} onChange={({ target }) => onChange(target.value || null)}>
        <option value="">All functions</option>
        {isGone && <option value={value}>{value}</option>}
        {functions.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function WindowField({ value, onChange }: { value: AlertRuleFields["windowSeconds"]; onChange: (seconds: number) => void }) {
  const choices = [...new Set([...WINDOWS_S, Number(value)])].sort((a, b) => a - b);
  return (
    <label className="field">
      <span>Within the last</span>
      <select className="input" value={value} onChange={({ target }) => onChange(Number(target.value))}>
        {choices.map((seconds) => (
          <option key={seconds} value={seconds}>
            {spanText(seconds)}
          </option>
        ))}
      </select>
    </label>
  );
}

function fieldsOf({ name, kind, threshold, windowSeconds, quietHours, enabled, ...rule }: AlertRuleFields): AlertRuleFields {
  const { function: functionId, webhook, event } = rule;
  return { name, kind, function: functionId, webhook, event, threshold, windowSeconds, quietHours, enabled };
}
