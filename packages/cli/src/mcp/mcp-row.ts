/** `inlet mcp`. */

import { command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

const { url, "api-key": apiKey, env } = CONNECTION_FLAGS;

export const MCP = command({
  words: ["mcp"],
  sentence: "Connects an agent to the service: the Model Context Protocol on standard input and output.",
  more: "For clients that start a program. Clients that speak HTTP use /mcp of the service. The service decides what the key may read and change; every call is in its audit log.",
  examples: [
    ["inlet mcp", "a dev server on this machine"],
    ["inlet mcp --url https://inlet.example.com --env staging", "with the key in INLET_API_KEY"],
  ],
  exits: [
    [0, "the client has closed standard input"],
    [1, "failed"],
    [2, "invalid flags or names"],
  ],
  flags: { url, "api-key": apiKey, env },
  run: async (call) => (await import("./serve-mcp.ts")).serveMcp(call),
});
