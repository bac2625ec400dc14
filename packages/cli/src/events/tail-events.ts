/** `inlet events tail`: prints one line per event and reconnects as needed. */

import { type CommandResult, written } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { instant } from "../command-line/list-flags.ts";
import { followStream } from "../rest/follow-stream.ts";
import { createRestClient } from "../rest/rest-client.ts";
import { eventLine, onOneLine } from "./event-text.ts";
import type { TAIL_FLAGS } from "./events-flags.ts";

export async function tailEvents({ options, io }: Call<typeof TAIL_FLAGS>): Promise<CommandResult> {
  const { name, since, json } = options;
  const rest = createRestClient(options);
  const call = { path: "/events/stream", query: { name, from: since && instant(since) } };
  const parts = followStream(rest, call, {
    after: null,
    signal: io.interrupted(),
    onConnection: (state, reason) =>
      io.err.write(
        state === "connected" ? `Following events of ${rest.base}. Press Ctrl-C to stop.\n` : `Disconnected: ${reason}. Reconnecting.\n`,
      ),
  });
  for await (const { data } of parts) io.out.write(`${json ? onOneLine(data ?? "") : eventLine(data ?? "")}\n`);
  return written();
}
