/** What must not fall silent, and for how long it may. */

import { useQuery } from "@tanstack/react-query";
import type { AlertRuleFields } from "../api/alerts.ts";
import { functionsQuery, webhooksQuery } from "../api/queries.ts";
import { spanText } from "./alert-words.ts";

interface SilenceFieldsProps {
  env: string;
  draft: AlertRuleFields;
  onChange: (fields: Partial<AlertRuleFields>) => void;
}

type Subject = "webhook" | "event" | "function";

export const SILENCE_WINDOW_S = 3_600;
const WINDOWS_S = [300, 900, SILENCE_WINDOW_S, 21_600, 86_400, 172_800, 604_800];
const SUBJECTS: Readonly<Record<Subject, string>> = { webhook: "A webhook", event: "An event", function: "A function" };
const NONE = { webhook: null, event: null, function: null };

export function SilenceFields({ env, draft, onChange }: SilenceFieldsProps) {
  const subject = draft.event !== null ? "event" : draft.function !== null ? "function" : "webhook";
  const choose = (chosen: Subject) => onChange({ ...NONE, ...(chosen !== "webhook" && { [chosen]: "" }) });
  return (
    <>
      <label className="field">
        <span>Watches</span>
        <select className="input" value={subject} onChange={({ target }) => choose(target.value as Subject)}>
          {Object.entries(SUBJECTS).map(([one, label]) => (
            <option key={one} value={one}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {subject === "webhook" && <WebhookField env={env} value={draft.webhook} onChange={(webhook) => onChange({ ...NONE, webhook })} />}
      {subject === "event" && <EventField value={draft.event ?? ""} onChange={(event) => onChange({ ...NONE, event })} />}
      {subject === "function" && <FunctionField env={env} value={draft.function} onChange={(id) => onChange({ ...NONE, function: id })} />}
      <WindowField value={draft.windowSeconds} onChange={(windowSeconds) => onChange({ windowSeconds })} />
    </>
  );
}

function WebhookField({ env, value, onChange }: { env: string; value: string | null; onChange: (id: string) => void }) {
  const { data: webhooks = [] } = useQuery(webhooksQuery(env));
  return <Choice label="Webhook" value={value} options={webhooks} onChange={onChange} />;
}

function FunctionField({ env, value, onChange }: { env: string; value: string | null; onChange: (id: string) => void }) {
  const { data: functions = [] } = useQuery(functionsQuery(env));
  return <Choice label="Function" value={value} options={functions} onChange={onChange} />;
}

interface ChoiceProps {
  label: string;
  value: string | null;
  options: readonly { id: string; name: string }[];
  onChange: (id: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="input" required value={value ?? ""} onChange={({ target }) => onChange(target.value)}>
        <option value="" disabled>
          Choose one
        </option>
        {value && !options.some(({ id }) => id === value) && <option value={value}>{value}</option>}
        {options.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function EventField({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  return (
    <label className="field">
      <span>Event</span>
      <input
        className="input"
        required
        maxLength={256}
        value={value}
        placeholder="shop/order.created"
        onChange={({ target }) => onChange(target.value)}
      />
      <small>A name, or the beginning of names followed by *.</small>
    </label>
  );
}

function WindowField({ value, onChange }: { value: AlertRuleFields["windowSeconds"]; onChange: (seconds: number | "usual") => void }) {
  const choices = [...new Set([...WINDOWS_S, ...(value === "usual" ? [] : [value])])].sort((a, b) => a - b);
  return (
    <label className="field">
      <span>Silent for</span>
      <select
        className="input"
        value={value}
        onChange={({ target }) => onChange(target.value === "usual" ? "usual" : Number(target.value))}
      >
        <option value="usual">{spanText("usual")}</option>
        {choices.map((seconds) => (
          <option key={seconds} value={seconds}>
            {spanText(seconds)}
          </option>
        ))}
      </select>
      <small>Longer than usual: compared with the same hours of the last eight weeks. Known once there are 14 days of activity.</small>
    </label>
  );
}
