/** Names that people give to webhooks, keys, alert rules and filters. */

/** Without C0, DEL and C1, which terminals, logs and files of settings would take for something else. */
export const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/** What people call an object. */
export function nameText(maxLength: number) {
  return { type: "string", minLength: 1, maxLength, pattern: NO_CONTROL_CHARACTERS } as const;
}
