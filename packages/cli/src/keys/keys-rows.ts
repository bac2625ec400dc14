/** `inlet keys …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { CREATE_FLAGS, LIST_FLAGS, NEW_FLAGS } from "./keys-flags.ts";

export const KEYS_ROWS: readonly CommandRow[] = [
  command({
    words: ["keys", "list"],
    sentence: "Lists keys; only their first characters are shown: event and signing keys of the environment, API keys of the installation.",
    examples: [
      ["inlet keys list", "keys of the default environment"],
      ["inlet keys list --env branch --kind event", "event keys shared by all branches"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).listKeys(call),
  }),
  command({
    words: ["keys", "create"],
    operands: "<name>",
    sentence: "Creates a key and prints it once.",
    more: "Only the key is printed to standard output, so that a script can capture it. Messages go to standard error.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet keys create web", "an event key of the default environment"],
      ["inlet keys create previews --env branch", "an event key for all branch environments"],
      ["inlet keys create 2026-02 --kind signing --env staging", "a signing key of one environment; --env branch: of all branches"],
      ["inlet keys create ci --kind api --role viewer --only-env staging", "a read-only API key for one environment"],
      ["inlet keys create shop --allow-name 'shop/*' --allow-ip 10.0.0.0/8", "restricted to event names and IP addresses"],
    ],
    flags: CREATE_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).createKey(call),
  }),
  command({
    words: ["keys", "new"],
    sentence: "Generates a random key for a setting such as INLET_SIGNING_KEY. Works offline and registers nothing.",
    examples: [
      ["inlet keys new --kind signing", "for --signing-key, valid in every environment, and for the apps"],
      ["inlet keys new --kind api", "for --api-key"],
    ],
    flags: NEW_FLAGS,
    run: async (call) => (await import("./new-key.ts")).newKey(call),
  }),
  command({
    words: ["keys", "revoke"],
    operands: "<key id>",
    sentence: "Revokes a key immediately.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet keys revoke key_01JCQ7V8Z0", 'by the id that "inlet keys list" shows']],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).revokeKey(call),
  }),
];
