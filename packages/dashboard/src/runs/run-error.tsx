/** An error of a function, with its stack. */

import { type ReactNode, useState } from "react";
import type { RunError } from "../api/types.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";

export function RunErrorBox({ error, title, tools }: { error: RunError; title?: string; tools?: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="error-box">
      <div className="row">
        <Icon name="xCircle" />
        <span className="grow">
          {title && <span className="strong">{title}: </span>}
          <span className="strong">{error.name}:</span> {error.message}
        </span>
        {tools}
        {error.stack && (
          <button type="button" className="button small bare" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide stack" : "Show stack"}
          </button>
        )}
        <CopyButton text={error.stack ?? `${error.name}: ${error.message}`} label="Copy error" />
      </div>
      {open && <pre className="logs">{error.stack}</pre>}
    </div>
  );
}
