/** The catalogue: a schema is declared on the page of its event type, beside what traffic shows, and the tester marks what it refuses. */

import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { makeWebhook, post } from "../../../server/test/support/webhooks.ts";
import { openPage, visit } from "../support/browser.ts";
import { untilPolled } from "../support/polled.ts";

const NAME = "shop/order.created";
const DAY_MS = 86_400_000;

export function eventTypeCases(browser: () => Browser): void {
  test("an event type shows its shape and drift, and its schema is declared there", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await service.send(
      Array.from({ length: 12 }, (_, n) => ({ name: NAME, data: { orderId: `o_${n}`, ...(n % 2 === 0 && { amount: 1 }) } })),
    );
    await service.rest("GET", `/event-types/${encodeURIComponent(NAME)}`);
    await service.send({ name: NAME, data: { orderId: "o", coupon: "x" } });
    const page = await openPage(t, browser(), "about:blank");
    await page.clock.install();
    await page.goto(`${service.url}/env/dev/event-types/${encodeURIComponent(NAME)}`);
    const shape = page.getByRole("region", { name: "Shape" });
    await untilPolled(shape.getByText("New field coupon (string)"));
    await shape.getByRole("row").filter({ hasText: "orderId" }).getByText("100 %").waitFor();
    const schema = page.getByRole("region", { name: "Schema" });
    await schema.getByRole("button", { name: "Start from the shape" }).click();
    await schema.getByRole("button", { name: "Save" }).click();
    await schema.getByText("version 1").waitFor();
    await schema.getByLabel("Mode").selectOption("refuse");
    await page.getByText("The mode was changed.").waitFor();
    assert.equal((await service.send({ name: NAME, data: { amount: 1 } })).body.code, "event_schema");
    await untilPolled(schema.getByText("1 event did not match"));
  });

  test("a schema that is being typed survives a change of the mode, and stays with its event type", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await service.send([NAME, "shop/other"].map((name) => ({ name, data: {} })));
    const page = await openPage(t, browser(), `${service.url}/env/dev/event-types/shop%2Fother`);
    const schema = page.getByRole("region", { name: "Schema" });
    const text = schema.getByLabel("JSON Schema of data");
    await text.waitFor();
    await visit(page, `/env/dev/event-types/${encodeURIComponent(NAME)}`);
    await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
    const typed = '{ "required": ["orderId"] }';
    await text.fill(typed);
    const isReloaded = page.waitForResponse(
      (response) => response.request().method() === "GET" && response.url().includes("order.created"),
    );
    await schema.getByLabel("Mode").selectOption("warn");
    await page.getByText("The mode was changed.").waitFor();
    await isReloaded;
    assert.equal(await text.inputValue(), typed, "the mode alone was saved");

    await visit(page, "/env/dev/event-types/shop%2Fother");
    await page.getByRole("heading", { level: 1, name: "shop/other" }).waitFor();
    assert.equal(await text.inputValue(), "", "another type has a text of its own");

    await text.fill(typed);
    await schema.getByRole("button", { name: "Save" }).click();
    await schema.getByText("version 1").waitFor();
    await schema.getByRole("button", { name: "Discard" }).waitFor({ state: "detached" });
    assert.deepEqual(JSON.parse(await text.inputValue()), JSON.parse(typed));
  });

  test("a webhook and an event type show their usual rhythm once it is known; the tester marks an event that would be refused", async (t) => {
    let aheadMs = -16 * DAY_MS;
    const service = await startTestService(t, { mode: "dev", now: () => Date.now() + aheadMs });
    const webhook = await makeWebhook(service, `function transform(evt) { return { name: "${NAME}", data: evt }; }`);
    await post(webhook.url, { n: 1 });
    aheadMs = 0;
    await post(webhook.url, { n: 2 });
    await service.send({ name: "shop/new", data: {} });
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${webhook.id}?tab=requests`);
    const rhythm = page.getByRole("region", { name: "Usual rhythm" });
    for (const path of [null, `event-types/${encodeURIComponent(NAME)}`]) {
      if (path !== null) await visit(page, `/env/dev/${path}`);
      await rhythm.getByRole("img", { name: /^Activity by hour of the week/ }).waitFor();
      await rhythm.getByText("16.0 days").waitFor();
    }
    await visit(page, "/env/dev/event-types/shop%2Fnew");
    await rhythm.getByText("Known after two weeks of activity").waitFor();

    const body = { schema: { type: "object", required: ["orderId"] }, mode: "refuse" };
    await service.rest("PUT", `/event-types/${encodeURIComponent(NAME)}`, { body });
    const refused = await makeWebhook(service, `function transform(evt) { return { name: "${NAME}", data: {} }; }`);
    await visit(page, `/env/dev/webhooks/${refused.id}`);
    await page.getByText("This event would be refused").waitFor();
    await page.getByText("data/orderId is required").waitFor();
  });
}
