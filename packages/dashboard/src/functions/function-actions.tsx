/** The actions for a function: invoke it, or replay stored events to it. */

import { useState } from "react";
import { useMayRepair, useMaySend } from "../api/session.ts";
import type { FunctionItem } from "../api/types.ts";
import { JobDialog } from "../jobs/job-dialog.tsx";
import { instantsOf, RANGES } from "../lists/time-range.ts";
import { Icon } from "../ui/icon.tsx";
import { InvokeDialog } from "./invoke-dialog.tsx";

export function FunctionActions({ env, fn }: { env: string; fn: FunctionItem }) {
  const [open, setOpen] = useState<"invoke" | "replay" | null>(null);
  const maySend = useMaySend();
  const mayRepair = useMayRepair();
  const names = fn.triggers.flatMap(({ event }) => event ?? []);
  const [name] = names;
  const close = () => setOpen(null);
  return (
    <>
      {maySend && (
        <button type="button" className="button" onClick={() => setOpen("invoke")}>
          <Icon name="play" /> Invoke
        </button>
      )}
      {mayRepair && name !== undefined && (
        <button type="button" className="button" onClick={() => setOpen("replay")}>
          <Icon name="refresh" /> Replay events
        </button>
      )}
      {open === "invoke" && <InvokeDialog env={env} fn={fn} onClose={close} />}
      {open === "replay" && <ReplayToFunction env={env} fn={fn} names={names} onClose={close} />}
    </>
  );
}

function ReplayToFunction({ env, fn, names, onClose }: { env: string; fn: FunctionItem; names: readonly string[]; onClose: () => void }) {
  const [name, setName] = useState(names[0] ?? "");
  const [range, setRange] = useState("24h");
  const filter = { name, ...instantsOf({ range }) };
  return (
    <JobDialog env={env} request={{ kind: "events.replay", filter, function: fn.id }} onClose={onClose}>
      <p>Runs {fn.name} for events that were stored before, such as those it missed while it was not subscribed.</p>
      <div className="row">
        <select className="input grow" aria-label="Events" value={name} onChange={({ target }) => setName(target.value)}>
          {names.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <select className="input" aria-label="Time range" value={range} onChange={({ target }) => setRange(target.value)}>
          {Object.entries(RANGES).map(([key, { label }]) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </JobDialog>
  );
}
