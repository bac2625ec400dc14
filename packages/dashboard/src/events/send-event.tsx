/** Sends a new, repeated or edited event, in the name of whoever is signed in. */

import { useState } from "react";
import { errorOf } from "../api/client.ts";
import { formatJson, type JsonText, readJsonText } from "../api/json-text.ts";
import { useMaySend } from "../api/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { toast } from "../ui/toasts.tsx";

const EXAMPLE = '{"name":"shop/order.created","data":{"orderId":"4711"}}';

export function SendEventButton({ env }: { env: string }) {
  const [open, setOpen] = useState(false);
  const maySend = useMaySend();
  if (!maySend) return null;
  return (
    <>
      <button type="button" className="button primary" onClick={() => setOpen(true)}>
        <Icon name="send" /> Send event
      </button>
      {open && <SendEventDialog env={env} title="Send an event" event={EXAMPLE} onClose={() => setOpen(false)} />}
    </>
  );
}

interface SendEventDialogProps {
  env: string;
  title: string;
  event: JsonText;
  onClose: () => void;
}

export function SendEventDialog({ env, title, event, onClose }: SendEventDialogProps) {
  const [text, setText] = useState(() => formatJson(event));
  async function send() {
    if (readJsonText(text) === null) throw new Error(jsonFault(text));
    const ids = await sendEvent(env, text);
    toast("ok", `Sent: ${ids.join(", ")}`);
    onClose();
  }
  return (
    <FormDialog title={title} submit="Send" wide onClose={onClose} onSubmit={send}>
      <label className="field">
        <span>Event</span>
        <textarea className="input" rows={14} value={text} spellCheck={false} onChange={({ target }) => setText(target.value)} />
        <small>A JSON object with name and data, and optionally id (for deduplication) and ts.</small>
      </label>
    </FormDialog>
  );
}

/** Sent as it is written. */
export async function sendEvent(env: string, event: JsonText): Promise<string[]> {
  const response = await fetch("/v1/events", {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json", "x-service-env": env },
    body: event,
  });
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text);
  return (JSON.parse(text) as { data: { ids: string[] } }).data.ids;
}

function jsonFault(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}
