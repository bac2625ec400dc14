/** Where Send to Dev Server sends, remembered in this browser, and whether something answers there. */

import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";

const STORED_AS = "inlet.dev-server";
export const DEFAULT_TARGET = "http://localhost:8288";

const listeners = new Set<() => void>();

export function devServerTarget(): string {
  return localStorage.getItem(STORED_AS) ?? DEFAULT_TARGET;
}

export function setDevServerTarget(address: string): void {
  localStorage.setItem(STORED_AS, address);
  for (const listener of listeners) listener();
}

export function useDevServerTarget(): string {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, devServerTarget);
}

/** An address without a trailing slash, or null when it is none a browser may send to. */
export function readTarget(text: string): string | null {
  try {
    const { protocol, origin, pathname } = new URL(text.trim());
    return protocol === "http:" || protocol === "https:" ? origin + pathname.replace(/\/+$/, "") : null;
  } catch {
    return null;
  }
}

/** The answer of another origin cannot be read unless it says so; that there is one is enough. */
export function useReachable(target: string) {
  return useQuery({
    queryKey: ["dev-server", target],
    queryFn: async () => {
      await fetch(`${target}/health`, { mode: "no-cors", cache: "no-store", signal: AbortSignal.timeout(3_000) });
      return true;
    },
    retry: false,
    refetchInterval: 10_000,
    staleTime: 5_000,
  });
}
