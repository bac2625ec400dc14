/**
 * Allow and deny lists, as event keys and webhooks carry them.
 * An allow list lets through only what it names; a deny list refuses what it names; no list lets everything through.
 */

export interface AcceptList {
  mode: "allow" | "deny";
  list: string[];
}

/** Whether a list lets something through, given whether the list names it. */
export function listAdmits(list: AcceptList, named: boolean): boolean {
  return (list.mode === "allow") === named;
}

/** `orders/*` matches every name that starts with `orders/`; anything else matches itself. */
export function nameMatches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

export function nameAdmitted(list: AcceptList | null, name: string): boolean {
  if (!list) return true;
  return listAdmits(
    list,
    list.list.some((pattern) => nameMatches(pattern, name)),
  );
}
