/**
 * Allow and deny lists of event keys and webhooks.
 * An allow list accepts only what it names; a deny list refuses what it names; without a list, everything is accepted.
 */

export interface AcceptList {
  mode: "allow" | "deny";
  list: string[];
}

/** Whether a list accepts a value, given whether the list names it. */
export function listAllows(list: AcceptList, named: boolean): boolean {
  return (list.mode === "allow") === named;
}

/** `orders/*` matches every name that starts with `orders/`; anything else matches itself. */
export function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function nameAllowed(list: AcceptList | null, name: string): boolean {
  if (!list) return true;
  return listAllows(
    list,
    list.list.some((pattern) => nameMatches(pattern, name)),
  );
}
