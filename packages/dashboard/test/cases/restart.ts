/** A service that stops and restarts: the page reports it, misses nothing, and needs no reload. */

import type { Browser } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { freePort } from "../../../server/test/support/free-port.ts";
import { startInlet } from "../../../server/test/support/process.ts";
import { call, temporaryFolder } from "../../../server/test/support/service.ts";
import { storeFlags } from "../../../server/test/support/store-flags.ts";
import { openPage } from "../support/browser.ts";
import { until } from "../support/until.ts";

const AWAY = /ERR_|404/;

export function restartCases(browser: () => Browser): void {
  test("a list survives a crash of the service, and a page opened in the meantime reports the error", async (t) => {
    const { flags } = await storeFlags(t, { dataDir: temporaryFolder(t) });
    const port = String(await freePort());
    const start = () => startInlet(t, ["dev", "--port", port, ...flags]);
    const first = await start();
    const send = (name: string) => call(`${first.url}/e/any`, { method: "POST", body: JSON.stringify({ name, data: {} }) });
    await send("before/crash");
    const page = await openPage(t, browser(), "about:blank", { allow: AWAY });
    let pagesFetched = false;
    page.on("requestfinished", (request) => {
      pagesFetched ||= request.url().includes("manage-pages");
    });
    await page.goto(`${first.url}/env/dev/events`);
    await page.getByRole("listitem").filter({ hasText: "before/crash" }).waitFor();
    await until("the other pages", async () => pagesFetched);

    await first.end("SIGKILL");
    await page.getByRole("button", { name: "Not live" }).waitFor();
    const second = await start();
    await send("after/crash");
    await page.getByRole("listitem").filter({ hasText: "after/crash" }).waitFor();

    await second.end("SIGKILL");
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("alert").getByText("The service is not responding").waitFor();
    await start();
    await page.getByRole("button", { name: "New event key" }).waitFor();
  });
}
