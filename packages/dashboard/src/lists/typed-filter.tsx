/** A text filter that applies once the user stops typing. */

import { useEffect, useRef, useState } from "react";

const DEBOUNCE_MS = 300;

interface TypedFilterProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  list?: string;
  /** Wide enough for an expression. */
  isLong?: boolean;
  onChange: (value: string) => void;
}

export function TypedFilter({ label, placeholder, value = "", list, isLong = false, onChange }: TypedFilterProps) {
  const [text, setText] = useState(value);
  // Other filters may change before the timer fires, so always call the latest function.
  const change = useRef(onChange);
  change.current = onChange;
  /** Set while the user is typing. */
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (timer.current === undefined) setText(value);
  }, [value]);
  function settle(typed: string) {
    clearTimeout(timer.current);
    timer.current = undefined;
    change.current(typed);
  }
  function type(typed: string) {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => settle(typed), DEBOUNCE_MS);
  }
  return (
    <input
      className={isLong ? "input long" : "input"}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      list={list}
      value={text}
      spellCheck={false}
      onChange={({ target }) => type(target.value)}
      onKeyDown={({ key }) => key === "Enter" && settle(text)}
    />
  );
}
