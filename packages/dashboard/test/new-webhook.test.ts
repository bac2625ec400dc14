/** The provider of a new webhook is one that can be seen. */

import assert from "node:assert/strict";
import { before } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { call, startTestService } from "../../server/test/support/service.ts";
import { openPage, visit } from "./support/browser.ts";
import { delayNext } from "./support/delay-next.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("a provider that the search hides is not chosen", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const page = await openPage(t, browser, `${service.url}/env/dev/webhooks/new`);
  const stripe = page.getByRole("radio", { name: /^S?\s*Stripe/ }).first();
  await stripe.waitFor();
  assert.equal(await stripe.isChecked(), false);
  await page.getByRole("searchbox", { name: "Search providers" }).pressSequentially("stripe");
  await until("the one that is found to be chosen", () => stripe.isChecked());
  await page.getByRole("combobox", { name: /no request comes/ }).selectOption("1 day");
  const created = await delayNext(page, "**/v1/webhooks");
  let requests = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/v1/webhooks")) requests++;
  });
  const create = page.getByRole("button", { name: /^Create/ });
  await create.click();
  await create.click({ force: true });
  await created();
  await page.waitForURL("**/webhooks/wh_*");
  await page.getByRole("heading", { name: "Stripe" }).first().waitFor();
  assert.equal(requests, 1, "a second click does not create another webhook");
  const [rule] = (await service.rest("GET", "/alert-rules")).body.data;
  assert.deepEqual(
    [rule.kind, rule.windowSeconds, rule.webhook],
    [
      "silence",
      86_400,
      page
        .url()
        .split(/[/?]/)
        .find((part) => part.startsWith("wh_")),
    ],
  );
  const body = page.getByRole("textbox", { name: "Body of the test request" });
  await until("an example of the provider", async () => /"object":\s*"event"/.test(await body.inputValue()));
  await page.getByRole("region", { name: "Result" }).getByText("Event accepted").waitFor();

  await visit(page, "/env/dev/webhooks/new");
  await page.getByRole("searchbox", { name: "Search providers" }).fill("twilio");
  const twilio = page.getByRole("radio", { name: /^T?\s*Twilio/ }).first();
  await until("the other provider to be chosen", () => twilio.isChecked());
  await create.click();
  await page.getByRole("heading", { name: "Twilio" }).first().waitFor();
  const [texts] = (await service.rest("GET", "/webhooks")).body.data;
  const answer = { status: 200, contentType: "text/xml", body: "<Response/>" };
  assert.deepEqual([texts.name, texts.answer], ["Twilio", answer], "a provider that insists on a response gets it");
  const sent = await call(texts.url, { method: "POST", body: new URLSearchParams({ MessageSid: "SM1", Body: "hi" }) });
  assert.deepEqual([sent.status, sent.text, sent.headers.get("content-type")?.split(";")[0]], [200, answer.body, answer.contentType]);
});
