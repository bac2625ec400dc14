/**
 * One tab for the tests of a process, which run one after the other. A new context starts a process and compiles the dashboard again, which is
 * half of what a page costs. After each test, the tab is as new: no listener, no route, no cookie, no storage. One that cannot be
 * reset, because its service is gone, is closed.
 */

import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { newContext, VIEWPORT } from "./context.ts";

let tab: Page | null = null;
let isLent = false;

/** Null while it is in use. */
export async function borrowTab(t: TestContext, browser: Browser, address: string): Promise<Page | null> {
  if (isLent) return null;
  isLent = true;
  tab ??= await (await newContext(browser)).newPage();
  const lent = tab;
  onEnd(t, async () => {
    await reset(lent, new URL(address).origin).catch(closeTab);
    isLent = false;
  });
  return lent;
}

export async function closeTab(): Promise<void> {
  const closed = tab;
  tab = null;
  await closed?.context().close();
}

async function reset(page: Page, origin: string): Promise<void> {
  const context = page.context();
  page.removeAllListeners();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const other of context.pages()) if (other !== page) await other.close();
  await context.setOffline(false);
  await page.setViewportSize(VIEWPORT);
  // A page without the dashboard, of the same origin: it has its storage, and stays in the process that has compiled the dashboard.
  await page.goto(`${origin}/health`);
  await page.evaluate("localStorage.clear(); sessionStorage.clear()");
  await context.clearCookies();
}
