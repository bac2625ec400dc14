/** Texts that cannot be keys: well-known placeholders from documentation, and texts longer or shorter than any key. */

export const KEY_UNITS_MAX = 512;
/** Of a key that encrypts: anyone with the encrypted rows could guess shorter texts. */
export const ENCRYPTION_KEY_UNITS_MIN = 32;

const PLACEHOLDER = /(?:replace|change)[-_ ]?(?:me|this)|placeholder|your[-_ ](?:\w+[-_ ])?key|<[^>]*>|…|\.\.\.|x{8,}/i;

/** Completes a sentence that begins with the given text. */
export const PLACEHOLDER_RULE = 'is a placeholder from an example, which everybody knows; make a key with "inlet keys new"';

export function isPlaceholderKey(text: string): boolean {
  return PLACEHOLDER.test(text);
}
