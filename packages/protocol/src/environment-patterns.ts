/**
 * The environments that a role is restricted to: names, beginnings such as `payments-*`, and `branch` for every branch environment.
 * They may name environments that do not exist yet.
 */

const NAME = /^[A-Za-z0-9._/-]{1,128}$/;
const BEGINNING = /^[A-Za-z0-9._/-]{1,126}-\*$/;

/** The scope of all branch environments, and of the keys and webhooks they share. */
export const BRANCH_SCOPE = "branch";

/** Names that nobody may give to an environment. Clients take `.` and `..` out of paths: nothing could be done to an environment of that name. */
export const RESERVED_ENVIRONMENTS: ReadonlySet<string> = new Set(["production", "dev", BRANCH_SCOPE, ".", ".."]);

/** Completes a sentence that begins with the given text. */
export const ENVIRONMENT_PATTERN_RULE = 'must be the name of an environment, "branch", or a name followed by -*, such as payments-*';

export function isEnvironmentPattern(text: string): boolean {
  return NAME.test(text) || BEGINNING.test(text);
}

export function isEnvironmentBeginning(text: string): boolean {
  return text.endsWith("*");
}

export function matchesEnvironment(pattern: string, { name, kind }: { name: string; kind: string }): boolean {
  if (pattern === BRANCH_SCOPE) return name === BRANCH_SCOPE || kind === "branch";
  return isEnvironmentBeginning(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Whether every environment of `inner`, those to come included, is one of `outer`. `kind` is that of the environment that `inner` names. */
export function coversEnvironments(outer: string, inner: string, kind: string): boolean {
  if (inner === outer) return true;
  if (inner === BRANCH_SCOPE) return false;
  if (!isEnvironmentBeginning(inner)) return matchesEnvironment(outer, { name: inner, kind });
  return isEnvironmentBeginning(outer) && inner.startsWith(outer.slice(0, -1));
}
