/** One send, with the hooks around it. */

import type { EventPayload } from "../events/event-types.ts";
import type { BeforeSend, Middleware } from "./middleware.ts";
import { runHooks } from "./run-hooks.ts";

/** The ids, or what the send or a hook throws. */
export async function sendThrough(
  list: readonly Middleware[],
  sending: BeforeSend,
  send: (events: readonly EventPayload[]) => Promise<string[]>,
): Promise<string[]> {
  if (list.length === 0) return send(sending.events);
  const before = await runHooks(list, "beforeSend", sending);
  const sent = await send(before.events).then(
    (ids) => ({ ids, error: undefined }),
    (error: unknown) => ({ ids: undefined, error }),
  );
  const after = await runHooks(list, "afterSend", { ...before, ...sent });
  if (after.error !== undefined) throw after.error;
  return [...(after.ids ?? [])];
}
