/** Fields of a form: a label, the control, and a hint below it. */

import type { ComponentProps, ReactNode } from "react";

interface TextFieldProps extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  hint?: ReactNode;
  onChange: (value: string) => void;
}

export function TextField({ label, hint, className = "", onChange, ...input }: TextFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input {...input} className={`input ${className}`} onChange={({ target }) => onChange(target.value)} />
      {hint && <small>{hint}</small>}
    </label>
  );
}

export interface Option {
  value: string;
  text: string;
  disabled?: boolean;
}

interface SelectFieldProps extends Omit<ComponentProps<"select">, "onChange"> {
  label: string;
  hint?: ReactNode;
  options: readonly Option[];
  onChange: (value: string) => void;
}

export function SelectField({ label, hint, options, onChange, ...select }: SelectFieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select {...select} className="input" onChange={({ target }) => onChange(target.value)}>
        {options.map(({ value, text, disabled }) => (
          <option key={value} value={value} disabled={disabled}>
            {text}
          </option>
        ))}
      </select>
      {hint && <small>{hint}</small>}
    </label>
  );
}
