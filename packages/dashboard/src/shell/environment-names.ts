/** Environments as people call them. */

/** The scope that holds what all branches share. It is not an environment, but it is a place to look at. */
export const SHARED = "branch";

export function environmentTitle(name: string): string {
  return name === SHARED ? "All branches" : name;
}
