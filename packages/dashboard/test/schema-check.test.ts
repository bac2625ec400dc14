/** An event that breaks its schema is marked, and the result never becomes a part of the event. */

import assert from "node:assert/strict";
import { before } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { openPage } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("an event that breaks its schema is marked in list and panel, and is sent again as it was sent", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const schema = { type: "object", required: ["orderId"] };
  await service.rest("PUT", "/event-types/shop%2Forder", { body: { schema, mode: "warn" } });
  await service.send([
    { name: "shop/order", data: { orderId: 1 } },
    { name: "shop/order", data: { amount: 2 }, v: "7" },
  ]);
  const page = await openPage(t, browser, `${service.url}/env/dev/events`);
  const rows = page.getByRole("listitem");
  await rows.nth(1).waitFor();
  assert.deepEqual(await Promise.all([0, 1].map((n) => rows.nth(n).getByTitle("Breaks the schema of shop/order").count())), [1, 0]);
  await rows.nth(0).getByRole("link").first().click();
  const panel = page.getByRole("complementary", { name: "Event" });
  await panel.getByText("This event breaks the schema of shop/order").waitFor();
  await panel.getByText("data/orderId").waitFor();
  const sent = panel.getByRole("region", { name: "Event as sent" });
  await sent.getByText('"7"').waitFor();
  assert.equal(await sent.getByText("schema").count(), 0);
  await panel.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit and send" }).click();
  const text = await page
    .getByRole("dialog")
    .getByRole("textbox", { name: /^Event/ })
    .inputValue();
  assert.deepEqual(Object.keys(JSON.parse(text)).sort(), ["data", "name", "v"]);
});
