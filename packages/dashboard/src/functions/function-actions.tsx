/** The actions for a function: invoke it with an event, or replay stored events to it. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { objectText } from "../api/json-text.ts";
import { eventPage } from "../api/queries.ts";
import { sentEvent } from "../api/read-items.ts";
import { useMayChange, useMayRepair } from "../api/session.ts";
import type { FunctionItem } from "../api/types.ts";
import { SendEventDialog } from "../events/send-event.tsx";
import { JobDialog } from "../jobs/job-dialog.tsx";
import { instantsOf, RANGES } from "../lists/time-range.ts";
import { Icon } from "../ui/icon.tsx";

export function FunctionActions({ env, fn }: { env: string; fn: FunctionItem }) {
  const [open, setOpen] = useState<"invoke" | "replay" | null>(null);
  const mayChange = useMayChange();
  const mayRepair = useMayRepair();
  const names = fn.triggers.flatMap(({ event }) => event ?? []);
  const [name] = names;
  if (name === undefined) return null;
  const close = () => setOpen(null);
  return (
    <>
      {mayChange && !name.endsWith("*") && (
        <button type="button" className="button" onClick={() => setOpen("invoke")}>
          <Icon name="play" /> Invoke
        </button>
      )}
      {mayRepair && (
        <button type="button" className="button" onClick={() => setOpen("replay")}>
          <Icon name="refresh" /> Replay events
        </button>
      )}
      {open === "invoke" && <InvokeDialog env={env} fn={fn} name={name} onClose={close} />}
      {open === "replay" && <ReplayToFunction env={env} fn={fn} names={names} onClose={close} />}
    </>
  );
}

interface InvokeDialogProps {
  env: string;
  fn: FunctionItem;
  name: string;
  onClose: () => void;
}

/** Starts with the newest event of the trigger, so that its data is likely to be valid. */
function InvokeDialog({ env, fn, name, onClose }: InvokeDialogProps) {
  const { data } = useQuery({ queryKey: ["events", env, "newest", name], queryFn: () => eventPage(env, { name }), gcTime: 0 });
  if (!data) return null;
  const [newest] = data.items;
  const event = newest
    ? sentEvent(newest, { withId: false, withTs: false })
    : objectText([
        ["name", JSON.stringify(name)],
        ["data", "{}"],
      ]);
  return (
    <SendEventDialog
      env={env}
      title={`Invoke ${fn.name}`}
      note="Sends this event. Every function that subscribes to it runs."
      event={event}
      onClose={onClose}
    />
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
