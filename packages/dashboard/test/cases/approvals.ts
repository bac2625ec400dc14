/**
 * Approvals: the open ones are counted in the navigation and decided in the inbox, on the page of the run
 * and on their own page; viewers only look.
 */

import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { runsOf, startApp } from "../../../server/test/support/app.ts";
import { test } from "../../../server/test/support/both-stores.ts";
import { API_KEY, startTestService } from "../../../server/test/support/service.ts";
import { assertAccessible } from "../support/axe.ts";
import { openPage, visit } from "../support/browser.ts";
import { POLLED_WITHIN_MS, untilPolled } from "../support/polled.ts";
import { signIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";

export function approvalCases(browser: () => Browser): void {
  test("approvals are counted, decided in the inbox, on the page of the run and by the link on a phone, and shown to viewers", async (t) => {
    const service = await startTestService(t);
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "deploy", name: "Deploy" }, { event: "ci/built" }, ({ event, step }) =>
        step.waitForApproval("ask", { prompt: `Deploy ${event.data.tag}?`, data: { tag: event.data.tag }, timeout: "1h" }),
      ),
    ]);
    const ask = async (tag: string) => {
      const id = (await service.send({ name: "ci/built", data: { tag } })).body.ids[0] as string;
      const [run] = await runsOf(service, id, { until: ({ status }) => status === "waiting" });
      return { run, output: async () => (await runsOf(service, id))[0].output };
    };
    const page = await openPage(t, browser(), "about:blank", { allow: /40[139]/ });
    await page.clock.install();
    await page.goto(`${service.url}/login?next=%2Fenv%2Fproduction%2Fapprovals`);
    await signIn(page, API_KEY);
    await page.getByText("No open approvals").waitFor();

    const [first, second, third] = [await ask("v1"), await ask("v2"), await ask("v3")];
    await untilPolled(page.getByRole("link", { name: "Approvals 3 open" }));
    const row = page.getByRole("row").filter({ hasText: "Deploy v1?" });
    await untilPolled(row);
    await row.getByRole("button", { name: "Approve Deploy v1?" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Comment (optional)").fill("go");
    await dialog.getByRole("button", { name: "Approve", exact: true }).click();
    await row.waitFor({ state: "detached" });
    const { decision, comment } = await first.output();
    assert.deepEqual([decision, comment], ["approved", "go"]);

    // Somebody else decides while the dialog is open.
    await page.getByRole("button", { name: "Reject Deploy v2?" }).click();
    await service.rest("POST", `/approvals/${second.run.steps[0].approvalId}`, { body: { decision: "approved" } });
    await page.clock.fastForward(POLLED_WITHIN_MS);
    await page.locator("tr").filter({ hasText: "Deploy v2?" }).waitFor({ state: "detached" });
    await dialog.getByRole("button", { name: "Reject", exact: true }).click();
    await dialog.getByText("The approval was already decided: approved.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    assert.equal((await second.output()).decision, "approved");

    await page.getByRole("row").filter({ hasText: "Deploy v3?" }).getByRole("link", { name: "Deploy" }).click();
    await page.waitForURL(`**/runs/${third.run.id}`);
    await page
      .getByRole("button", { name: /^ask\b/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Reject Deploy v3?" }).click();
    await dialog.getByRole("button", { name: "Reject", exact: true }).click();
    await until("the decision", async () => (await third.output()).decision === "rejected");

    await visit(page, "/env/production/approvals");
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "Deploy v3?" }).getByText("Rejected").waitFor();
    const { key } = (await service.rest("POST", "/keys", { body: { kind: "api", name: "viewer", role: "viewer" } })).body.data;
    const fourth = await ask("v4");
    const other = await openPage(t, browser(), `${service.url}/login?next=%2Fenv%2Fproduction%2Fapprovals`, { allow: /40[13]/ });
    await signIn(other, key);
    await other.getByText("Deploy v4?").first().waitFor();
    await other
      .getByRole("button", { name: /^(Approve|Reject)/ })
      .first()
      .waitFor({ state: "detached" });

    const { url } = (await service.rest("GET", `/runs/${fourth.run.id}`)).body.data.steps[0];
    const link = await openPage(t, browser(), url, { colorScheme: "dark", viewport: { width: 360, height: 640 } });
    await link.getByRole("heading", { name: "Deploy v4?" }).waitFor();
    assert.equal(await link.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "it fits a phone");
    await assertAccessible(link, "the page of an approval");
    await link.getByLabel("Comment (optional)").fill("by link");
    await link.getByRole("button", { name: "Approve" }).click();
    await link.getByRole("heading", { name: "Thank you: approved" }).waitFor();
    assert.deepEqual(await fourth.output(), { decision: "approved", by: "link", comment: "by link", data: null });
  });

  test("on a dev server, too, an approval is decided on its page", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const asked = { signal: "refund 1", prompt: "Refund?", timeout: "1h" };
    const { id, url } = (await service.rest("POST", "/approvals", { body: asked })).body.data;
    const page = await openPage(t, browser(), url);
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("heading", { name: "Thank you: rejected" }).waitFor();
    assert.equal((await service.rest("GET", `/approvals/${id}`)).body.data.status, "rejected");
  });
}
