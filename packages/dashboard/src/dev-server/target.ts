/** The target of Send to Dev Server, stored in this browser, and whether it is reachable. */

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

/** Hosts that the page's content policy allows besides its own origin. */
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1"]);
export const TARGET_HINT = "A URL at localhost or 127.0.0.1, such as http://localhost:8288";

/** A URL without a trailing slash, or null if this page may not send to it. */
export function readTarget(text: string): string | null {
  try {
    const { protocol, origin, hostname, pathname } = new URL(text.trim());
    const allowed = origin === location.origin || (protocol === "http:" && LOCAL_HOSTS.has(hostname));
    return allowed ? origin + pathname.replace(/\/+$/, "") : null;
  } catch {
    return null;
  }
}

/** Whether the target is the service that serves this page: both run on the port of dev servers unless another one is chosen. */
export function isThisService(target: string): boolean {
  return localOrigin(target) === localOrigin(location.href);
}

function localOrigin(address: string): string {
  const url = new URL(address);
  if (LOCAL_HOSTS.has(url.hostname)) url.hostname = "localhost";
  return url.origin;
}

/** Any response means reachable, because a dev server may refuse this origin, and other servers may not allow reading their response. */
export function useReachable(target: string) {
  return useQuery({
    queryKey: ["dev-server", target],
    queryFn: async () => {
      const options = { cache: "no-store", signal: AbortSignal.timeout(3_000) } as const;
      await fetch(`${target}/e/dashboard`, { ...options, method: "OPTIONS" }).catch(() =>
        fetch(`${target}/health`, { ...options, mode: "no-cors" }),
      );
      return true;
    },
    enabled: !isThisService(target),
    retry: false,
    refetchInterval: 10_000,
    staleTime: 5_000,
  });
}
