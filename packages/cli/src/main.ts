/** The `inlet` command. Each command loads only what it needs. */

import packageFile from "../package.json" with { type: "json" };
import { CommandFault, writeFault } from "./command-line/command-fault.ts";
import { EXIT } from "./command-line/command-result.ts";
import type { Io } from "./command-line/command-row.ts";
import { runCommand } from "./command-line/run-command.ts";
import { printableStream } from "./command-line/terminal-text.ts";
import { GROUPS, ROWS } from "./commands.ts";

const argv = process.argv.slice(2);

/** A reader of the output may stop early, as `head` does. That is not an error. A service goes on without its output. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (ROWS.some(({ words, settings }) => settings !== undefined && words[0] === argv[0])) return;
  if (error.code === "EPIPE") process.exit(process.exitCode ?? EXIT.ok);
  writeFault(process.stderr, new CommandFault(`the output cannot be written: ${error.message}`));
  process.exit(EXIT.failed);
});
/** What cannot be said is no reason for another exit code. */
process.stderr.on("error", () => {});

if (argv[0] === "--version" || argv[0] === "-v") console.log(packageFile.version);
else process.exitCode = await runCommand({ rows: ROWS, groups: GROUPS }, argv, processIo());

function processIo(): Io {
  let controller: AbortController | null = null;
  return {
    out: printableStream(process.stdout),
    err: printableStream(process.stderr),
    stdin: process.stdin,
    variables: process.env,
    interrupted() {
      if (controller) return controller.signal;
      const asked = new AbortController();
      controller = asked;
      // A second signal ends the process at once, as without a handler.
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => asked.abort());
      return asked.signal;
    },
  };
}
