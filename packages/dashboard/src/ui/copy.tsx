/** Copy buttons with feedback, and code blocks that can be copied. */

import { type ReactNode, useEffect, useState } from "react";
import { Icon } from "./icon.tsx";

/** Shows briefly whether the last copy succeeded. */
export function useCopy(): [copied: "" | "copied" | "failed", copy: (text: string) => void] {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (state === "") return;
    const timer = setTimeout(() => setState(""), 1_600);
    return () => clearTimeout(timer);
  }, [state]);
  return [state, (text) => void copyText(text).then((ok) => setState(ok ? "copied" : "failed"))];
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The clipboard API requires https. Over http, a selection can still be copied. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const ok = document.execCommand("copy");
  area.remove();
  return ok;
}

export function CopyButton({ text, label, children, className = "button bare small" }: CopyButtonProps) {
  const [state, copy] = useCopy();
  return (
    <button
      type="button"
      className={`${className}${children ? "" : " icon"}`}
      aria-label={state === "copied" ? "Copied" : label}
      title={label}
      onClick={() => copy(typeof text === "function" ? text() : text)}
    >
      <Icon name={state === "copied" ? "check" : state === "failed" ? "x" : "copy"} size={14} />
      {children}
    </button>
  );
}

interface CopyButtonProps {
  text: string | (() => string);
  label: string;
  children?: ReactNode;
  className?: string;
}

export function CodeBlock({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <div className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <pre tabIndex={0}>{text}</pre>
      <span className="copy">
        <CopyButton text={text} label={label} />
      </span>
    </div>
  );
}
