/** Pauses and resumes a function. While it is paused, its runs are created and wait. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import type { FunctionItem } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { Notice } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { toast, withToast } from "../ui/toasts.tsx";

export function PauseButton({ env, fn }: { env: string; fn: FunctionItem }) {
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  const [resuming, setResuming] = useState(false);
  if (!mayRepair) return null;
  const refresh = () => reload(queries, ["functions", env]);
  const path = `/functions/${encodeURIComponent(fn.id)}`;
  if (fn.pausedAt !== null) {
    return (
      <>
        <button type="button" className="button primary" onClick={() => setResuming(true)}>
          <Icon name="play" /> Resume
        </button>
        {resuming && (
          <ResumeDialog
            fn={fn}
            onClose={() => setResuming(false)}
            onResume={async (held) => {
              await call(`${path}/resume`, { method: "POST", env, body: { held } });
              toast("ok", `${fn.name} resumed.`);
              setResuming(false);
              await refresh();
            }}
          />
        )}
      </>
    );
  }
  return (
    <button
      type="button"
      className="button"
      onClick={() => void withToast(call(`${path}/pause`, { method: "POST", env }), `${fn.name} paused.`).then(refresh)}
    >
      <Icon name="pause" /> Pause
    </button>
  );
}

interface ResumeDialogProps {
  fn: FunctionItem;
  onClose: () => void;
  onResume: (held: "keep" | "cancel") => Promise<void>;
}

function ResumeDialog({ fn, onClose, onResume }: ResumeDialogProps) {
  const [held, setHeld] = useState<"keep" | "cancel">("keep");
  return (
    <FormDialog title={`Resume ${fn.name}`} submit="Resume" onClose={onClose} onSubmit={() => onResume(held)}>
      <label className="field">
        <span>{plural(fn.held, "run waits", "runs wait")}</span>
        <select className="input" value={held} onChange={({ target }) => setHeld(target.value as "keep" | "cancel")}>
          <option value="keep">Continue them</option>
          <option value="cancel">Cancel them</option>
        </select>
      </label>
    </FormDialog>
  );
}

export function PausedNotice({ fn }: { fn: FunctionItem }) {
  if (fn.pausedAt === null) return null;
  return (
    <Notice kind="warn" icon="pause">
      Paused since <Time at={fn.pausedAt} />. {plural(fn.held, "run waits", "runs wait")} until it is resumed; new runs are created and wait
      too.
    </Notice>
  );
}

export function PausedBadge({ fn }: { fn: FunctionItem }) {
  if (fn.pausedAt === null) return null;
  return (
    <span className="badge warn">
      <Icon name="pause" size={13} /> Paused, {plural(fn.held, "run waits", "runs wait")}
    </span>
  );
}
