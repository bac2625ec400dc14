/** The commands of `inlet webhooks`. Unlike others they exit with 2 when the two sides differ, so a mistake in the flags is 1. */

import { EXIT } from "../command-line/command-result.ts";
import { type CommandRow, command } from "../command-line/command-row.ts";
import { APPLY_FLAGS, NEW_FLAGS, PLAN_FLAGS, PULL_FLAGS, TEST_FLAGS } from "./webhooks-flags.ts";

export const WEBHOOKS_ROWS: readonly CommandRow[] = [
  command({
    words: ["webhooks", "new"],
    operands: "[name]",
    sentence: "Writes a new webhook into the folder, started from a provider's transform and fixtures.",
    more: "Nothing is sent to the server. The name is the provider's unless given; without --from it starts from a generic transform.\nAn environment given by --env is written into the file. A folder that exists is never overwritten.",
    namesMax: 1,
    examples: [
      ["inlet webhooks new --from stripe", "writes webhooks/stripe/"],
      ['inlet webhooks new "Shop EU" --from shopify --env staging', "writes webhooks/shop-eu/, for staging"],
      ["inlet webhooks new --list", "lists the providers"],
    ],
    exits: [
      [0, "written"],
      [1, "nothing was written"],
    ],
    usageExit: EXIT.failed,
    flags: NEW_FLAGS,
    run: async (call) => (await import("./commands/new.ts")).newWebhook(call),
  }),
  command({
    words: ["webhooks", "test"],
    operands: "[name …]",
    sentence: "Runs the fixtures of the folder in the service's own sandbox, offline.",
    more: "Each fixture is a request and the event it becomes. Also finds transforms that do not parse. Names of folders choose some of them.",
    namesMax: Number.POSITIVE_INFINITY,
    examples: [
      ["inlet webhooks test", "runs all fixtures"],
      ["inlet webhooks test stripe", "only those of webhooks/stripe/"],
    ],
    exits: [
      [0, "every fixture passed"],
      [1, "a fixture failed, or something else went wrong"],
    ],
    usageExit: EXIT.failed,
    flags: TEST_FLAGS,
    run: async (call) => (await import("./commands/test.ts")).testWebhooks(call),
  }),
  command({
    words: ["webhooks", "pull"],
    sentence: "Writes the server's webhooks into the folder.",
    more: "What the folder does not have is written. Files that differ are shown and left as they are, unless --force is given.\nFixtures, and entries the server does not know, are never touched.",
    examples: [
      ["inlet webhooks pull", "the default environment, and those the folder's entries name"],
      ["inlet webhooks pull --env staging --force", "staging too, and the server's version wins"],
    ],
    exits: [
      [0, "the folder has what the server has"],
      [1, "something went wrong"],
      [2, "local files differ and were left as they are"],
    ],
    usageExit: EXIT.failed,
    flags: PULL_FLAGS,
    run: async (call) => (await import("./commands/pull.ts")).pullWebhooks(call),
  }),
  command({
    words: ["webhooks", "plan"],
    sentence: "Prints what apply would change, and changes nothing.",
    more: "Shows what would be created and changed, field by field, and with --prune what would be deleted.",
    examples: [
      ["inlet webhooks plan", "against http://localhost:8288"],
      ["SERVICE_API_KEY=… inlet webhooks plan --url https://inlet.example.com", "in CI: the exit code tells"],
    ],
    exits: [
      [0, "nothing would change"],
      [1, "something went wrong"],
      [2, "something would change"],
    ],
    usageExit: EXIT.failed,
    flags: PLAN_FLAGS,
    run: async (call) => (await import("./commands/plan.ts")).planWebhooks(call),
  }),
  command({
    words: ["webhooks", "apply"],
    sentence: "Makes the server have what the folder says.",
    more: "The fixtures are run first; one that fails stops it before anything is sent. A new webhook's URL is printed, and its id recorded\nin its webhook.json.",
    examples: [
      ["inlet webhooks apply", "against http://localhost:8288"],
      ["SERVICE_API_KEY=… inlet webhooks apply --prune --url https://inlet.example.com", "in CI, where the folder is the whole truth"],
    ],
    exits: [
      [0, "the server has what the folder says"],
      [1, "something went wrong; what was done until then is printed"],
    ],
    usageExit: EXIT.failed,
    flags: APPLY_FLAGS,
    run: async (call) => (await import("./commands/apply.ts")).applyWebhooks(call),
  }),
];
