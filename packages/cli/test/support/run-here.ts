/**
 * A command in the process of the test: it does what `inlet <argv>` does, without the time that a process needs to start. Where the
 * process itself matters (signals, standard streams, its end), a test starts one.
 */

import { Readable, Writable } from "node:stream";
import type { Ended } from "../../../server/test/support/process.ts";
import type { CommandRow, Io } from "../../src/command-line/command-row.ts";
import { runCommand } from "../../src/command-line/run-command.ts";
import { printableStream } from "../../src/command-line/terminal-text.ts";
import { GROUPS, ROWS } from "../../src/commands.ts";

// As in a process of its own, whose environment is bare: no colours, whatever the machine that runs the tests asks for.
delete process.env.FORCE_COLOR;

/** The folder that commands run in now, and how many do. */
const place = { folder: "", home: "", commands: 0 };

/** Null for what is no command, or one that is a service. */
export function commandOf(argv: readonly string[]): CommandRow | null {
  const row = ROWS.find(({ words }) => words.every((word, i) => argv[i] === word));
  return row && !row.settings ? row : null;
}

export async function runHere(folder: string, argv: readonly string[], variables: Record<string, string>, input = ""): Promise<Ended> {
  const [out, err] = [new Written(), new Written()];
  const io: Io = {
    out: printableStream(out as unknown as NodeJS.WriteStream),
    err: printableStream(err as unknown as NodeJS.WriteStream),
    stdin: Readable.from(input === "" ? [] : [Buffer.from(input)]) as unknown as NodeJS.ReadStream,
    variables,
    interrupted: () => new AbortController().signal,
  };
  enter(folder);
  try {
    const code = await runCommand({ rows: ROWS, groups: GROUPS }, argv, io);
    return { code, stdout: out.text, stderr: err.text };
  } finally {
    leave();
  }
}

class Written extends Writable {
  text = "";

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Commands find their files by the folder of the process: those of several folders cannot run at the same time. */
function enter(folder: string): void {
  if (place.commands > 0 && place.folder !== folder) throw new Error(`a command runs in ${place.folder} already`);
  if (place.commands++ > 0) return;
  place.folder = folder;
  place.home = process.cwd();
  process.chdir(folder);
}

function leave(): void {
  if (--place.commands === 0) process.chdir(place.home);
}
