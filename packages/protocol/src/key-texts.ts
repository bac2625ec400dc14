/** Texts that cannot be keys: well-known placeholders from documentation, and texts longer than any key. */

export const KEY_UNITS_MAX = 512;

const PLACEHOLDER = /(?:replace|change)[-_ ]?(?:me|this)|placeholder|your[-_ ](?:\w+[-_ ])?key|<[^>]*>|…|\.\.\.|x{8,}/i;

/** Completes a sentence that begins with the given text. */
export const PLACEHOLDER_RULE = 'is a placeholder from an example, which everybody knows; make a key with "inlet keys new"';

export function isPlaceholderKey(text: string): boolean {
  return PLACEHOLDER.test(text);
}
