/**
 * Notices that the service serves another build of the dashboard than the one that runs: its page names another main script. The next
 * navigation loads it. Checked after each outage, when the window is shown again, and now and then.
 */

import { useSyncExternalStore } from "react";
import { whenBack } from "./connection.ts";

const CHECK_EVERY_MS = 5 * 60_000;

let isNew = false;
const listeners = new Set<() => void>();

export function watchForNewVersion(): void {
  const check = () => void checkForNewVersion();
  whenBack(check);
  document.addEventListener("visibilitychange", check);
  setInterval(check, CHECK_EVERY_MS);
}

export function useNewVersion(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => isNew,
  );
}

/** Loads the page again if there is a new version, once the service is certain to serve it. */
export async function takeNewVersion(href: string): Promise<void> {
  if (isNew && (await servedPage()) !== null) location.assign(href);
}

async function checkForNewVersion(): Promise<void> {
  if (isNew || document.visibilityState === "hidden") return;
  const page = await servedPage();
  const script = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.getAttribute("src");
  if (page === null || !script || page.includes(`"${script}"`)) return;
  isNew = true;
  for (const listener of listeners) listener();
}

/** The page as it is served at the moment; null if there is none. */
async function servedPage(): Promise<string | null> {
  try {
    const response = await fetch("/", { headers: { accept: "text/html" }, cache: "no-store" });
    const text = await response.text();
    return response.ok && text.includes('id="root"') ? text : null;
  } catch {
    return null;
  }
}
