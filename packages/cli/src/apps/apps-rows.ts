/** `inlet apps …` and `inlet functions …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const APPS_ROWS: readonly CommandRow[] = [
  command({
    words: ["apps", "list"],
    sentence: "Lists the apps whose functions the service calls.",
    examples: [["inlet apps list", "with what went wrong at the last sync, if anything"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).listApps(call),
  }),
  command({
    words: ["apps", "sync"],
    operands: "<url>",
    sentence: "Asks an app to register its functions, now.",
    more: "The URL is the one under which the app serves its functions, as the service reaches it.",
    namesMin: 1,
    namesMax: 1,
    examples: [
      ["inlet apps sync https://shop.example.com/api/inlet", "after each deployment"],
      ["inlet apps sync https://preview-7.example.com/api/inlet --env feature/cart", "a preview, to its branch environment"],
    ],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).syncApp(call),
  }),
  command({
    words: ["apps", "remove"],
    operands: "<app>",
    sentence: "Removes an app: its functions start no more runs.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet apps remove shop", "by id or name"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).removeApp(call),
  }),
  command({
    words: ["functions", "list"],
    sentence: "Lists functions and what triggers them.",
    examples: [["inlet functions list", "those of the default environment"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./apps-commands.ts")).listFunctions(call),
  }),
];
