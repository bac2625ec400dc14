/** The result of a command. It is printed in one place, as text or as JSON. */

export interface CommandResult {
  exitCode: number;
  /** Null if the command has already printed its output. */
  text: string | null;
  json: unknown;
}

export const EXIT = { ok: 0, failed: 1, usage: 2, differs: 2, unreachable: 3, denied: 4 } as const;

/** JSON text that is printed unchanged, so that large numbers stay exact. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The result of a command that has already printed its output. */
export function written(exitCode: number = EXIT.ok): CommandResult {
  return { exitCode, text: null, json: null };
}
