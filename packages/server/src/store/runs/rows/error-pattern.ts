/**
 * The pattern of an error: its name and message with `*` for whatever differs between failures of the same cause. Ids, numbers and email
 * addresses are replaced; HTTP error statuses and short names such as `sha256` are kept.
 */

import type { RunError } from "../../contract/index.ts";

const MESSAGE_UNITS_MAX = 500;
const WORD = /[\p{L}\p{N}_](?:[\p{L}\p{N}_@.+-]*[\p{L}\p{N}_])?/gu;
/** Statuses that services send. Other numbers of three digits are numbers. */
const HTTP_ERROR = /^(?:40[0-689]|41[0-35]|42[2-689]|431|451|50[0-5]|52[0-6])$/;
const NUMERIC = /^[\d.+-]+$/;
/** A word with a digit is an id if it is at least this long. */
const ID_UNITS_MIN = 8;

export function errorPattern(error: Pick<RunError, "name" | "message"> | null): string {
  const { name, message } = error ?? { name: "Error", message: "" };
  return `${name}: ${message.slice(0, MESSAGE_UNITS_MAX).replace(WORD, (word) => (isVariable(word) ? "*" : word))}`;
}

function isVariable(word: string): boolean {
  if (word.includes("@")) return true;
  if (!/\d/.test(word) || HTTP_ERROR.test(word)) return false;
  return NUMERIC.test(word) || word.length >= ID_UNITS_MIN || /[_-]/.test(word);
}
