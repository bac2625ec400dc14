/**
 * The pages of a test, compared with the router's own table: a new page is in that table by itself, and fails the tests of every page
 * until `demo.ts` has an address of it.
 */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** These only lead elsewhere, or stand around other pages. */
const WITHOUT_PAGE: ReadonlySet<string> = new Set(["__root__", "/", "/$", "/env/$env"]);
/** For whom no environment matters. */
const SIGN_IN = "/login";
/** What has no page of its own. */
const MISSING = "/env/$env/$";

/** The router puts itself there. */
const ROUTER = "window.__TSR_ROUTER__";

/** The route of each address, in the dashboard that is open. Fails if the router has a page that none of them leads to. */
export async function routesOf(page: Page, paths: readonly string[], { inShell = false } = {}): Promise<string[]> {
  const pathnames = paths.map((path) => path.split("?")[0]);
  const routes = (await page.evaluate(`${JSON.stringify(pathnames)}.map((path) => ${ROUTER}.getMatchedRoutes(path)[2].id)`)) as string[];
  const table = (await page.evaluate(`Object.keys(${ROUTER}.routesById)`)) as string[];
  const pages = table.filter((id) => !WITHOUT_PAGE.has(id) && !(inShell && [SIGN_IN, MISSING].includes(id)));
  assert.deepEqual(
    pages.filter((id) => !routes.includes(id)),
    [],
    "pages that the test does not open",
  );
  return routes;
}
