/** The object that a page is about, for the title of the window: several tabs can be told apart. */

import { useEffect, useSyncExternalStore } from "react";

let current: string | null = null;
const listeners = new Set<() => void>();

function change(next: string | null): void {
  current = next;
  for (const listener of listeners) listener();
}

/** Put into the page of an object. */
export function PageTitle({ text }: { text: string }) {
  useEffect(() => {
    change(text);
    return () => change(null);
  }, [text]);
  return null;
}

export function usePageTitle(): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => current,
  );
}
