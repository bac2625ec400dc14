/** `inlet dev` and `inlet start`: the service itself. Its settings are defined in packages/server/src/config. */

import { type CommandRow, command, type Exits, type Flags } from "../command-line/command-row.ts";

export const DEV_FLAGS = {
  ephemeral: {
    type: "boolean",
    variable: "INLET_EPHEMERAL",
    sentence: "Use a temporary data folder that is deleted on exit.",
  },
} as const satisfies Flags;

const EXITS: Exits = [
  [0, "stopped on request"],
  [1, "failed to start, or stopped because of an internal error"],
  [2, "invalid flags or variables"],
];

export const SERVICE_ROWS: readonly CommandRow[] = [
  command({
    words: ["dev"],
    sentence: "Runs a dev server: accepts any key, listens on loopback only.",
    more: `Prints a line for each registered app, event, refused request and ended run; --log json prints log records with all details. Discovers apps on the usual
ports (see --discover) and syncs them when they change; --app-url adds others. Events are stored in .inlet/ unless --ephemeral is set.`,
    examples: [
      ["inlet dev", "http://localhost:8288"],
      ["inlet dev --port 0 --ephemeral", "on a free port, with temporary data"],
    ],
    exits: EXITS,
    flags: DEV_FLAGS,
    settings: "dev",
    run: async (call) => (await import("./run-dev.ts")).runDev(call),
  }),
  command({
    words: ["start"],
    sentence: "Runs the service: requires keys.",
    more: "The first start with an empty store generates keys and prints them once.",
    examples: [
      ["inlet start", "port 8288 on all interfaces, data in .inlet/"],
      ["inlet start --port 80 --data-dir /var/lib/inlet --trust-proxy 127.0.0.1", "behind a proxy on the same machine"],
    ],
    exits: EXITS,
    flags: {},
    settings: "start",
    run: async ({ names }) => (await import("./run-as-command.ts")).runAsCommand("start", names),
  }),
];
