/** Used by a store that is opened without the rules of waits and expressions: for copies, backups and tests that need neither. */

import type { WaitRules } from "../contract/index.ts";

export function withoutRules(): never {
  throw new Error("this store was opened without the rules of waits and expressions");
}

export const NO_RULES: WaitRules = { keyAt: withoutRules, matches: withoutRules };
