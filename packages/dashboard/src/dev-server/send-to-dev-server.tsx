/** Send to Dev Server: sends a copy of the event from this browser to a dev server. */

import { useState } from "react";
import type { JsonText } from "../api/json-text.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/states.tsx";
import { DEFAULT_TARGET, readTarget, setDevServerTarget, TARGET_HINT, useDevServerTarget, useReachable } from "./target.ts";

/** `event` is the event as sent, without `ts`, so that it gets the current time. */
export function SendToDevServer({ event, small = false }: { event: JsonText; small?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={`button${small ? " small" : ""}`} onClick={() => setOpen(true)}>
        <Icon name="laptop" size={small ? 14 : 16} /> Send to Dev Server
      </button>
      {open && <SendDialog event={event} onClose={() => setOpen(false)} />}
    </>
  );
}

type Outcome = { ok: true; ids: string[]; target: string } | { ok: false; message: string };

function SendDialog({ event, onClose }: { event: JsonText; onClose: () => void }) {
  const target = useDevServerTarget();
  const [text, setText] = useState(target);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [busy, setBusy] = useState(false);
  const address = readTarget(text);

  async function send() {
    if (!address) return;
    setDevServerTarget(address);
    setBusy(true);
    setOutcome(await sendTo(address, event));
    setBusy(false);
  }

  return (
    <Dialog title="Send to Dev Server" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void send();
        }}
      >
        <p className="second">
          Your browser sends a copy of this event to a dev server, without its <code>ts</code>, so that it gets the current time.
        </p>
        <label className="field">
          <span>URL of the dev server</span>
          <input
            className="input mono"
            value={text}
            onChange={({ target: { value } }) => setText(value)}
            placeholder={DEFAULT_TARGET}
            spellCheck={false}
          />
          {address ? <Reachability target={address} /> : <small>{TARGET_HINT}</small>}
        </label>
        {outcome?.ok && (
          <Notice kind="ok" icon="checkCircle">
            Sent. The dev server returned the id <code>{outcome.ids.join(", ")}</code>.{" "}
            <a href={`${outcome.target}/env/dev/events/${outcome.ids[0]}`} target="_blank" rel="noreferrer">
              Open it there
            </a>
          </Notice>
        )}
        {outcome && !outcome.ok && (
          <Notice kind="bad" icon="alert">
            {outcome.message}
          </Notice>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {outcome?.ok ? "Close" : "Cancel"}
          </button>
          <button type="submit" className="button primary" disabled={busy || !address}>
            <Icon name="send" /> {outcome?.ok ? "Send again" : "Send"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function Reachability({ target }: { target: string }) {
  const { isPending, isSuccess } = useReachable(target);
  if (isPending) return <small role="status">Checking…</small>;
  return (
    <small role="status" className="row" style={{ gap: 5 }}>
      <Icon name={isSuccess ? "checkCircle" : "xCircle"} size={14} />
      {isSuccess ? "The dev server is reachable" : "Not reachable. Start a dev server with npm run dev"}
    </small>
  );
}

async function sendTo(target: string, event: JsonText): Promise<Outcome> {
  try {
    // Without a content type this is a simple request, which needs no CORS preflight.
    const response = await fetch(`${target}/e/dashboard`, { method: "POST", body: event, signal: AbortSignal.timeout(10_000) });
    const body = (await response.json()) as { ids?: string[]; error?: string };
    if (response.ok) return { ok: true, ids: body.ids ?? [], target };
    return { ok: false, message: body.error ?? `The dev server refused it with status ${response.status}.` };
  } catch {
    return {
      ok: false,
      message: `${target} did not accept the event. It is not running, or the browser was not allowed to reach it.`,
    };
  }
}
