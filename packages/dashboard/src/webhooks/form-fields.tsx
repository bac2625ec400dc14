/** The fields of the forms of a webhook. Secrets are entered and never shown: an empty field keeps the current ones. */

import type { ReactNode } from "react";
import type { ShownSecret } from "../api/types.ts";

export function SecretsField({
  label,
  value,
  shown,
  onChange,
}: {
  label: string;
  value: string;
  shown: readonly ShownSecret[];
  onChange: (text: string) => void;
}) {
  const kept = shown.map(({ last4 }) => `••••${last4 ?? ""}`).join(", ");
  return (
    <Field label={label}>
      <textarea
        className="input code"
        rows={2}
        autoComplete="off"
        spellCheck={false}
        placeholder={kept === "" ? "" : `Current: ${kept}. Leave empty to keep.`}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  /** The label of the empty choice; absent: there is none. */
  none?: string;
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, none, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      <select className="input" value={value} onChange={({ target }) => onChange(target.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </Field>
  );
}

export function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label className="field">
      <span>{label}</span>
      {children}
    </label>
  );
}
