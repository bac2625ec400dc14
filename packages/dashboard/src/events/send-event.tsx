/** Sends a new, repeated or edited event. Outside dev, the user enters an event key, which is kept for this tab only. */

import { useState } from "react";
import { errorOf } from "../api/client.ts";
import { formatJson, type JsonText, readJsonText } from "../api/json-text.ts";
import { useMayChange } from "../api/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { toast } from "../ui/toasts.tsx";
import type { SendTarget } from "./snippets.ts";
import { useSendTarget } from "./use-send-target.ts";

const KEY_STORED_AS = "inlet.event-key";
const EXAMPLE = '{"name":"shop/order.created","data":{"orderId":"4711"}}';

export function SendEventButton({ env }: { env: string }) {
  const [open, setOpen] = useState(false);
  const mayChange = useMayChange();
  if (!mayChange) return null;
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
  /** Above the event. */
  note?: string;
  event: JsonText;
  onClose: () => void;
}

export function SendEventDialog({ env, title, note, event, onClose }: SendEventDialogProps) {
  const sendTarget = useSendTarget(env);
  const [text, setText] = useState(() => formatJson(event));
  const [key, setKey] = useState(() => sessionStorage.getItem(KEY_STORED_AS) ?? "");
  async function send() {
    if (readJsonText(text) === null) throw new Error(jsonFault(text));
    const ids = await sendEvent(text, sendTarget, key);
    toast("ok", `Sent: ${ids.join(", ")}`);
    onClose();
  }
  return (
    <FormDialog title={title} submit="Send" wide onClose={onClose} onSubmit={send}>
      {note && <p>{note}</p>}
      <label className="field">
        <span>Event</span>
        <textarea className="input" rows={14} value={text} spellCheck={false} onChange={({ target }) => setText(target.value)} />
        <small>A JSON object with name and data, and optionally id (for deduplication) and ts.</small>
      </label>
      {!sendTarget.isDev && <EventKeyField value={key} onChange={setKey} />}
    </FormDialog>
  );
}

function EventKeyField({ value, onChange }: { value: string; onChange: (key: string) => void }) {
  return (
    <label className="field">
      <span>Event key</span>
      <input
        className="input mono"
        type="password"
        autoComplete="off"
        required
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <small>The service stores only hashes of keys, so enter the key here. It is kept for this tab only.</small>
    </label>
  );
}

/** The same request that any client sends. */
export async function sendEvent(event: JsonText, { env, isDev, isDefault }: SendTarget, key: string): Promise<string[]> {
  if (!isDev) sessionStorage.setItem(KEY_STORED_AS, key);
  const response = await fetch(`/e/${isDev ? "dashboard" : encodeURIComponent(key)}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(!isDefault && { "x-service-env": env }) },
    body: event,
  });
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text);
  return (JSON.parse(text) as { ids: string[] }).ids;
}

export function rememberedKey(): string {
  return sessionStorage.getItem(KEY_STORED_AS) ?? "";
}

function jsonFault(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `Invalid JSON: ${(error as Error).message}`;
  }
}
