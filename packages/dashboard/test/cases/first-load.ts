/** The size of the first load, and the stored theme. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage } from "../support/browser.ts";
import { until } from "../support/until.ts";

const FIRST_LOAD_BYTES_MAX = 250 * 1024;
const DIST = new URL("../../dist/", import.meta.url);

export function firstLoadCases(browser: () => Browser): void {
  test("the first load is at most 250 KB, and without the editor", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await service.send({ name: "a/b", data: {} });
    const page = await openPage(t, browser(), "about:blank");
    const paths: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/assets\/|\.(?:js|svg)$/.test(pathname)) paths.push(pathname);
    });
    await page.goto(`${service.url}/`);
    await page.getByRole("heading", { name: "dev" }).waitFor();
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByRole("listitem").first().waitFor();
    // The preloaded pages count too.
    await until("the last page to be fetched", async () => paths.some((path) => path.includes("manage-pages")));
    const bytes = [...new Set(paths)].reduce((sum, path) => sum + gzipSync(readFileSync(new URL(`.${path}`, DIST))).length, 0);
    t.diagnostic(`all pages: ${paths.length} files, ${Math.round(bytes / 1024)} KB gzipped`);
    assert.ok(bytes > 0 && bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes`);
    assert.ok(!paths.some((path) => path.includes("editor")), "the editor is loaded on demand");
  });

  test("the selected theme is stored", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/settings`, { colorScheme: "light", allow: /ERR_CONNECTION_REFUSED/ });
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();
    await page.getByRole("button", { name: "Dark" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
    const dark = await until("the dark", async () => {
      const shown = await background();
      return shown !== light && shown;
    });
    await page.reload();
    await until("the dark again", async () => (await background()) === dark);
    await page.getByRole("button", { name: "System", exact: true }).click();
    await until("the light", async () => (await background()) === light);
  });
}
