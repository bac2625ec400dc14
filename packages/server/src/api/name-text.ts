/** Names that people give to webhooks, keys, alert rules and filters. */

import { NO_CONTROL_CHARACTERS } from "./text-patterns.ts";

/** What people call an object. */
export function nameText(maxLength: number) {
  return { type: "string", minLength: 1, maxLength, pattern: NO_CONTROL_CHARACTERS } as const;
}
