/** Display names of environments. */

/** The scope of what all branch environments share. It is not an environment, but it has pages of its own. */
export const SHARED = "branch";

export function environmentTitle(name: string): string {
  return name === SHARED ? "All branches" : name;
}
