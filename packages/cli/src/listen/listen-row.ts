/** `inlet listen`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { LISTEN_FLAGS } from "./listen-flags.ts";

export const LISTEN: CommandRow = command({
  words: ["listen"],
  sentence: "Forwards copies of events or raw webhook requests from a deployed Inlet to this machine, until Ctrl-C.",
  more: `Starts with new events or requests and saves a cursor: after a disconnect or a restart it continues from there, so nothing is
missed. While the target is unreachable, it waits. Events keep the Event ID, id, timestamp and payload text of the original; webhook requests
keep query, headers and body, byte for byte. A request goes to the dev server's webhook with the same name, or to the URL of the app. A copy
that arrives twice at a dev server is stored once. Requests that the service refused unread, and bodies too large to store, are not copied.`,
  examples: [
    ["inlet listen --url https://inlet.example.com --events 'shop/*'", "matching events, to the dev server on this machine"],
    ["inlet listen --url https://inlet.example.com --webhook Stripe --to http://localhost:3000/stripe", "raw requests, to an app"],
    ["inlet listen --url https://inlet.example.com --webhooks --since 1h", "also those of the last hour, to webhooks with the same names"],
  ],
  flags: LISTEN_FLAGS,
  run: async (call) => (await import("./listen.ts")).listen(call),
});
