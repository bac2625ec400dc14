/** `inlet keys …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { CREATE_FLAGS, LIST_FLAGS } from "./keys-flags.ts";

export const KEYS_ROWS: readonly CommandRow[] = [
  command({
    words: ["keys", "list"],
    sentence: "Lists keys by their first characters: event keys of the environment, API and signing keys of the installation.",
    examples: [
      ["inlet keys list", "of the default environment"],
      ["inlet keys list --env branch --kind event", "those all branches share"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).listKeys(call),
  }),
  command({
    words: ["keys", "create"],
    operands: "<name>",
    sentence: "Creates a key and prints it, once.",
    more: "The key alone goes to standard output, what there is to say about it to standard error, so a script can take it.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet keys create web", "an event key of the default environment"],
      ["inlet keys create previews --env branch", "an event key for all branch environments"],
      ["inlet keys create ci --kind api --role read --only-env staging", "an API key that may only read, and only there"],
      ["inlet keys create shop --allow-name 'shop/*' --allow-ip 10.0.0.0/8", "with lists"],
    ],
    flags: CREATE_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).createKey(call),
  }),
  command({
    words: ["keys", "revoke"],
    operands: "<key id>",
    sentence: "Revokes a key, at once.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet keys revoke key_01JCQ7V8Z0", 'by the id that "inlet keys list" shows']],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./keys-commands.ts")).revokeKey(call),
  }),
];
