/** The title of the window names the object that its page is about; pages of what does not exist lead on. */

import { before } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { openPage, visit } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("titles name the event, and the list again when it is closed", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const { body } = await service.send({ name: "shop/order.created", data: {} });
  const page = await openPage(t, browser, `${service.url}/env/dev/events/${body.ids[0]}`, { allow: /404/ });
  const hasTitle = (title: string) => until(title, async () => (await page.title()) === title);
  await hasTitle("shop/order.created · Events · dev · Inlet");
  await page.keyboard.press("Escape");
  await hasTitle("Events · dev · Inlet");
  for (const [path, heading, lead, title] of [
    ["/env/dev/nowhere", "Page not found", "Events", "Events · dev · Inlet"],
    ["/nowhere", "Page not found", "Runs", "Runs · dev · Inlet"],
    ["/env/dev/runs/01J0000000000000000000000X", "This run could not be loaded", "Go to Runs", "Runs · dev · Inlet"],
    ["/env/dev/functions/none", 'There is no function "none" in dev', "Go to Functions", "Functions · dev · Inlet"],
    ["/env/nowhere/events", 'There is no environment "nowhere"', "Go to dev", "Overview · dev · Inlet"],
  ] as const) {
    await visit(page, path);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: lead, exact: true }).click();
    await hasTitle(title);
  }
});
