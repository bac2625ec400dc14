/** `inlet dev` and `inlet start`: the service itself. Its settings are its own business; see packages/server/src/config. */

import { type CommandRow, command, type Exits, type Flags } from "../command-line/command-row.ts";

export const DEV_FLAGS = {
  ephemeral: {
    type: "boolean",
    variable: "SERVICE_EPHEMERAL",
    sentence: "Keep nothing: events live in a temporary folder that is removed at the end.",
  },
} as const satisfies Flags;

const EXITS: Exits = [
  [0, "stopped when asked to"],
  [1, "it could not start"],
  [2, "a mistake in the flags or variables"],
];

export const SERVICE_ROWS: readonly CommandRow[] = [
  command({
    words: ["dev"],
    sentence: "Runs Inlet on a developer's machine: any key is accepted, loopback only.",
    more: `What comes in is shown line by line, and in the dashboard. Apps on the usual ports are found and followed; --app-url adds others. Events are
kept in .inlet/ unless --ephemeral is given.`,
    examples: [
      ["inlet dev", "http://localhost:8288"],
      ["inlet dev --port 0 --ephemeral", "on any free port, and nothing is kept"],
    ],
    exits: EXITS,
    flags: DEV_FLAGS,
    settings: "dev",
    run: async (call) => (await import("./run-dev.ts")).runDev(call),
  }),
  command({
    words: ["start"],
    sentence: "Runs Inlet as a service: keys are checked.",
    more: "The first start on an empty folder makes keys and prints them, once.",
    examples: [
      ["inlet start", "port 8288 of every interface, data in .inlet/"],
      ["inlet start --port 80 --data-dir /var/lib/inlet --trust-proxy 127.0.0.1", "behind a proxy on the same machine"],
    ],
    exits: EXITS,
    flags: {},
    settings: "start",
    run: async ({ names }) => {
      const { runService } = await import("@inlet/server");
      return { exitCode: await runService("start", names), text: null, json: null };
    },
  }),
];
