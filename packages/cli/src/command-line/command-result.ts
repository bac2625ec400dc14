/** What a command comes to. Printing is done in one place, as text or as JSON. */

export interface CommandResult {
  exitCode: number;
  /** Null when the command wrote what it had to say as it went. */
  text: string | null;
  json: unknown;
}

export const EXIT = { ok: 0, failed: 1, usage: 2, differs: 2, unreachable: 3, denied: 4 } as const;

/** JSON that is printed as it stands, so that numbers no double can hold survive. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The result of a command that has printed everything already. */
export function written(exitCode: number = EXIT.ok): CommandResult {
  return { exitCode, text: null, json: null };
}
