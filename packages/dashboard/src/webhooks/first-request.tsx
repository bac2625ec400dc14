/** Shows that a new webhook waits for its first request, and when it has arrived. Refreshes automatically. */

import { useState } from "react";
import type { WebhookRequest } from "../api/types.ts";
import { Notice } from "../ui/states.tsx";

export function FirstRequest({ requests }: { requests: readonly WebhookRequest[] | undefined }) {
  const [waited, setWaited] = useState(false);
  if (!requests) return null;
  const first = requests.at(-1);
  if (!first) {
    if (!waited) setWaited(true);
    return (
      <Notice kind="info" icon="circleDashed">
        Waiting for the first request. Enter the URL at the provider; this page notices when a request arrives.
      </Notice>
    );
  }
  if (!waited) return null;
  const isGood = first.outcome === "accepted" || first.outcome === "handshake";
  return (
    <Notice kind={isGood ? "ok" : "bad"} icon={isGood ? "checkCircle" : "alert"}>
      {isGood ? `First request received: ${first.outcome}.` : `First request refused: ${first.error ?? first.outcome}`}
    </Notice>
  );
}
