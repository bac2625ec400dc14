/** Send to Dev Server: sends a copy of the event from this browser to a dev server. */

import type { JsonText } from "../api/json-text.ts";
import { postToDevServer } from "./post-to-dev-server.ts";
import { SendButton } from "./send-dialog.tsx";

/** `event` is the event as sent, without `ts`, so that it gets the current time. */
export function SendToDevServer({ event, small = false }: { event: JsonText; small?: boolean }) {
  async function send(target: string) {
    const sent = await postToDevServer<{ ids?: string[] }>(`${target}/e/dashboard`, event);
    if (!sent.ok) return sent;
    const ids = sent.body.ids ?? [];
    return { ok: true, id: ids.join(", "), page: `${target}/env/dev/events/${ids[0]}` } as const;
  }
  return (
    <SendButton title="Send to Dev Server" small={small} send={send}>
      Your browser sends a copy of this event to a dev server, without its <code>ts</code>, so that it gets the current time.
    </SendButton>
  );
}
