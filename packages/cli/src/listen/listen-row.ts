/** `inlet listen`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { LISTEN_FLAGS } from "./listen-flags.ts";

export const LISTEN: CommandRow = command({
  words: ["listen"],
  sentence: "Forwards copies of events or raw webhook requests from a deployed Inlet to this machine, until Ctrl-C.",
  more: `It begins with what comes in from now on, and remembers how far it came: after a disconnect, a sleep or a restart it goes on from
there, so nothing is missed. While the target does not answer, it waits. Events arrive with the Event ID, id, time and payload text of
the original, so a copy that is sent twice is still one event. A webhook request arrives with its headers, query and body, byte for byte;
at a dev server it goes to the webhook of the same name, once however often it is sent, elsewhere to the URL itself. Requests that the service turned away unread (unknown URL, refused
address) and bodies too large to keep are not forwarded.`,
  examples: [
    ["inlet listen --url https://inlet.example.com --events 'shop/*'", "events of the shop, to the dev server on this machine"],
    ["inlet listen --url https://inlet.example.com --webhook Stripe --to http://localhost:3000/stripe", "raw requests, to an app"],
    ["inlet listen --url https://inlet.example.com --webhooks --since 1h", "also those of the last hour, to webhooks of the same names"],
  ],
  flags: LISTEN_FLAGS,
  run: async (call) => (await import("./listen.ts")).listen(call),
});
