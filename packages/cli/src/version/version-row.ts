/** `inlet version`. */

import packageFile from "../../package.json" with { type: "json" };
import { EXIT } from "../command-line/command-result.ts";
import { command } from "../command-line/command-row.ts";

const FLAGS = { json: { type: "boolean", sentence: "Print JSON instead of text." } } as const;

export const VERSION = command({
  words: ["version"],
  sentence: "Prints the version of this command and of Node.",
  examples: [["inlet version", "for a report"]],
  exits: [
    [0, "success"],
    [2, "invalid flags or names"],
  ],
  flags: FLAGS,
  run: async () => {
    const { version } = packageFile;
    return { exitCode: EXIT.ok, text: `inlet ${version} (Node ${process.versions.node})`, json: { version, node: process.versions.node } };
  },
});
