/** What must not fall silent, and for how long it may. */

import { useQuery } from "@tanstack/react-query";
import type { AlertRuleFields } from "../api/alerts.ts";
import { functionsQuery, webhooksQuery } from "../api/queries.ts";
import { type Option, SelectField, TextField } from "../ui/fields.tsx";
import { spanText } from "./alert-words.ts";
import { namedOptions, spanOptions } from "./options.ts";

interface SilenceFieldsProps {
  env: string;
  draft: AlertRuleFields;
  onChange: (fields: Partial<AlertRuleFields>) => void;
}

type Subject = "webhook" | "event" | "function";

export const SILENCE_WINDOW_S = 3_600;
const WINDOWS_S = [300, 900, SILENCE_WINDOW_S, 21_600, 86_400, 172_800, 604_800];
const SUBJECTS: readonly Option[] = [
  { value: "webhook", text: "A webhook" },
  { value: "event", text: "An event" },
  { value: "function", text: "A function" },
];
const NONE = { webhook: null, event: null, function: null };

export function SilenceFields({ env, draft, onChange }: SilenceFieldsProps) {
  const subject = draft.event !== null ? "event" : draft.function !== null ? "function" : "webhook";
  const choose = (chosen: Subject) => onChange({ ...NONE, ...(chosen !== "webhook" && { [chosen]: "" }) });
  return (
    <>
      <SelectField label="Watches" options={SUBJECTS} value={subject} onChange={(chosen) => choose(chosen as Subject)} />
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
  const choices = [{ value: "", text: "Choose one", disabled: true }, ...namedOptions(options, value)];
  return <SelectField label={label} required options={choices} value={value ?? ""} onChange={onChange} />;
}

function EventField({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  return (
    <TextField
      label="Event"
      required
      maxLength={256}
      value={value}
      placeholder="shop/order.created"
      hint="A name, or the beginning of names followed by *."
      onChange={onChange}
    />
  );
}

function WindowField({ value, onChange }: { value: AlertRuleFields["windowSeconds"]; onChange: (seconds: number | "usual") => void }) {
  const usual = { value: "usual", text: spanText("usual") };
  return (
    <SelectField
      label="Silent for"
      options={[usual, ...spanOptions([...WINDOWS_S, ...(value === "usual" ? [] : [value])])]}
      value={value}
      hint="Longer than usual: compared with the same hours of the last eight weeks. Known once there are 14 days of activity."
      onChange={(chosen) => onChange(chosen === "usual" ? "usual" : Number(chosen))}
    />
  );
}
