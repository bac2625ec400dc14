/** Reads the number of the last message that a subscriber got. */

const NUMBER = /^\d{1,15}$/;

/** Null for none, and for what was never the number of a message. */
export function readAfter(text: string | string[] | null | undefined): number | null {
  const number = typeof text === "string" && NUMBER.test(text) ? Number(text) : 0;
  return number > 0 ? number : null;
}
