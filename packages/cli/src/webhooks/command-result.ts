/** What a sub-command comes to. Printing is done in one place, as text or as JSON. */

export interface CommandResult {
  exitCode: (typeof EXIT)[keyof typeof EXIT];
  text: string;
  json: unknown;
}

export const EXIT = { ok: 0, failed: 1, differs: 2 } as const;
