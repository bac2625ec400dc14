/** Statistics: the volume of event types, the length and age of the queue. */

import type { Browser } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { until } from "../support/until.ts";

const HOUR_MS = 3_600_000;

export function statsCases(browser: () => Browser): void {
  test("an event type shows its volume in the list and on its page, also in a browser with an invalid language, and links to its events", async (t) => {
    let behindMs = 50 * HOUR_MS;
    const service = await startTestService(t, { mode: "dev", now: () => Date.now() - behindMs });
    const name = "shop/order paid?";
    await service.send([1, 2, 3].map(() => ({ name, data: {} })));
    behindMs = 0;
    // Together, so that no hour begins in between.
    await service.send([name, name, "user/signed.up"].map((sent) => ({ name: sent, data: {} })));
    const page = await openPage(t, browser(), `${service.url}/env/dev/event-types`, { allow: /404/, language: "en-US@posix" });
    const row = page.getByRole("row").filter({ hasText: name });
    await row.getByRole("img", { name: "Events per hour, at most 2" }).waitFor();
    await row.getByRole("link", { name }).click();
    await page.getByRole("img", { name: "Last 7 days: 5 events" }).waitFor();
    await page.getByText("None", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Show events" }).click();
    await until("the events", async () => (await page.getByRole("listitem").filter({ hasText: name }).count()) === 5);
    await visit(page, "/env/dev/event-types/never%2Fsent");
    await page.getByText('No event "never/sent" was accepted').waitFor();
  });

  test("the overview shows the length of the queue", async (t) => {
    // As long as its clock stands still, the queue has one sample, which makes no curve.
    let standsAt: number | null = Date.now() - 120_000;
    const service = await startTestService(t, { mode: "dev", now: () => standsAt ?? Date.now() });
    const app = await startShopApp(service.url);
    onEnd(t, () => app.stop());
    await service.rest("POST", "/apps", { body: { url: app.url } });
    const page = await openPage(t, browser(), `${service.url}/env/dev`);
    await page.getByRole("region", { name: "Queue length" }).getByText("starting when it starts").waitFor();
    standsAt = null;
    await service.send({ name: "shop/order.created", data: { orderId: 1 } });
    await until("a call under way", async () => (await service.rest("GET", "/stats")).body.data.queue.waiting === 1);
    await visit(page, "/env/dev/events");
    await visit(page, "/env/dev");
    await page.getByRole("img", { name: "Queue length: at most 1 call at a time" }).waitFor();
    await page.getByRole("img", { name: /^Queue age: the oldest call waited/ }).waitFor();
  });
}
