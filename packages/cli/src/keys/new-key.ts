/** `inlet keys new`: generates a key offline, for a setting. */

import { issueKey } from "@inlet/server";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { NEW_FLAGS } from "./keys-flags.ts";

export async function newKey({ options }: Call<typeof NEW_FLAGS>): Promise<CommandResult> {
  const kind = options.kind as Parameters<typeof issueKey>[0];
  const { text } = issueKey(kind);
  return { exitCode: EXIT.ok, text, json: { kind, key: text } };
}
