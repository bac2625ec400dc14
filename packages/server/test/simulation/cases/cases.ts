/**
 * Scenarios that once went wrong, each by its own cause, kept as they were found, and some that random ones rarely come to. A case may say
 * what must hold beyond what the model checks in every scenario.
 */

import { HOOK_CASES } from "./hooks.ts";
import { LIMIT_CASES } from "./limits.ts";
import type { Case } from "./parts.ts";
import { PEOPLE_CASES } from "./people.ts";
import { STEP_CASES } from "./steps.ts";

export const CASES: readonly Case[] = [...STEP_CASES, ...LIMIT_CASES, ...PEOPLE_CASES, ...HOOK_CASES];
