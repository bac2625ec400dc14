/** Display names of environments. */

/** The scope that all branch environments share. It is not an environment, but it has its own pages. */
export const SHARED = "branch";

export function environmentTitle(name: string): string {
  return name === SHARED ? "All branches" : name;
}
