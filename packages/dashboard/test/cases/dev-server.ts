/** Send to Dev Server, Send run to Dev Server, Copy as test: from one service's dashboard to another service. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Inlet, NonRetriableError } from "@inlet/sdk";
import type { Browser } from "playwright-core";
import { type AnyFunction, runsOf, startApp } from "../../../server/test/support/app.ts";
import { test } from "../../../server/test/support/both-stores.ts";
import { startTestService, temporaryFolder } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { until } from "../support/until.ts";

const DEFAULT_URL = "http://localhost:8288";
const NOT_THERE = /ERR_CONNECTION_REFUSED/;
const TS = 1_700_000_000_000;

export function devServerCases(browser: () => Browser): void {
  test("an event is sent to a dev server without its ts; an unreachable one is reported before and after sending", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev", flags: ["--allow-origin", service.url] });
    const sent = `{"name":"shop/order.created","id":"order-1","ts":${TS},"v":"2","data":{"total":12345678901234567890}}`;
    const [id] = (await service.send(sent)).body.ids;

    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${id}`, { allow: NOT_THERE });
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    const address = dialog.getByRole("textbox", { name: "URL of the dev server" });
    assert.equal(await address.inputValue(), DEFAULT_URL);
    await address.fill(`${devServer.url}/`);
    await dialog.getByText("The dev server is reachable").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Sent. The dev server returned").waitFor();

    const there = await devServer.rest("GET", "/events");
    assert.equal(there.body.data.length, 1);
    const [event] = there.body.data;
    assert.equal(event.name, "shop/order.created");
    assert.equal(event.dedupId, "order-1");
    assert.equal(event.v, "2");
    assert.notEqual(event.ts, TS, "it has the current time on the dev server");
    assert.match(there.text, /"total":12345678901234567890\}/);

    await page.reload();
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    assert.equal(await address.inputValue(), devServer.url, "the URL is stored");
    await dialog.getByText("The dev server is reachable").waitFor();

    await devServer.stop();
    await address.fill("not an address");
    await until("the button to be disabled", () => dialog.getByRole("button", { name: "Send" }).isDisabled());
    await address.fill(devServer.url);
    await dialog.getByText("Not reachable").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText("did not accept it").waitFor();
  });

  test("a dev server that does not allow this origin refuses the event, and the dialog says how to allow it", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev" });
    const [id] = (await service.send({ name: "a/b", data: {} })).body.ids;
    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${id}`, {
      allow: /ERR_CONNECTION_REFUSED|ERR_FAILED|403|CORS policy/,
    });
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    await dialog.getByRole("textbox", { name: "URL of the dev server" }).fill(devServer.url);
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText(`--allow-origin ${service.url}`).waitFor();
    assert.deepEqual((await devServer.rest("GET", "/events")).body.data, []);
  });

  test("the service of the page itself is not taken for a dev server", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/settings`, { allow: NOT_THERE });
    const address = page.getByRole("textbox", { name: "URL of your dev server" });
    for (const own of [service.url, service.url.replace("127.0.0.1", "localhost")]) {
      await address.fill(DEFAULT_URL);
      await page.getByText("Not reachable").waitFor();
      await address.fill(own);
      await page.getByText("This is the service that you are looking at").waitFor();
    }
  });

  test("a failed run is sent to a dev server, where it stops at the same step", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev", flags: ["--allow-origin", service.url] });
    await startApp(t, service, () => [failing()], { isDev: true });
    const ran: string[] = [];
    const app = await startApp(t, devServer, () => [failing(ran)], { isDev: true });
    const [id] = (await service.send({ name: "shop/payment.due", data: { parts: 3 } })).body.ids;
    const [run] = await runsOf(service, id);
    const page = await openPage(t, browser(), `${service.url}/env/dev/runs/${run.id}`, { allow: /ERR_CONNECTION_REFUSED|404/ });
    await page.getByRole("button", { name: "Send run to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send run to Dev Server" });
    await dialog.getByRole("textbox", { name: "URL of the dev server" }).fill(devServer.url);
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Sent. The dev server returned").waitFor();
    const there = await dialog.getByRole("link", { name: "Open it there" }).getAttribute("href");
    const seen = await openPage(t, browser(), String(there));
    await seen.getByText("The run failed: NonRetriableError: no credit").waitFor();
    await seen.getByRole("button", { name: /part × 3/ }).waitFor();
    assert.deepEqual(ran, ["part"], "the steps before the failure kept their results");

    await app.stop();
    await devServer.rest("DELETE", `/apps/${(await devServer.rest("GET", "/apps")).body.data[0].id}`);
    await dialog.getByRole("button", { name: "Send again" }).click();
    await dialog.getByRole("alert").getByText("There is no function shop-pay here").waitFor();
  });

  test("a run that is copied as a test fails as it did, and passes when the code is mended", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await startApp(t, service, () => [failing()], { isDev: true });
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await openPage(t, browser(), `${service.url}/env/dev/runs`, { allow: NOT_THERE, permissions });
    const copied = async (parts: number) => {
      const [id] = (await service.send({ name: "shop/payment.due", data: { parts } })).body.ids;
      const [run] = await runsOf(service, id);
      await visit(page, `/env/dev/runs/${run.id}`);
      await page.getByRole("button", { name: "Copy as test" }).click();
      await page.getByText("Copied as a test").first().waitFor();
      return until("the test of this run", async () => {
        const text = (await page.evaluate("navigator.clipboard.readText()")) as string;
        return text.includes(run.id) && text;
      });
    };
    const folder = temporaryFolder(t);
    symlinkSync(fileURLToPath(new URL("../../../../node_modules", import.meta.url)), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');

    const failed = await copied(3);
    assert.match(failed, /\/\/ The run failed: NonRetriableError: no credit process\.exit\(3\)/, "what a run threw stays in the comment");
    const before = await runTest(folder, failed, failing.toString());
    assert.equal(before.status, 1, before.output);
    assert.match(before.output, /no credit/);
    const mended = await runTest(folder, failed, failing.toString().replace("index === 2", "false"));
    assert.equal(mended.status, 0, mended.output);
    const completed = await runTest(folder, await copied(1), failing.toString());
    assert.equal(completed.status, 0, completed.output);
  });
}

/** Fails at its third part, after a failure that it handles. Runs as it stands here in a file of its own. */
function failing(ran: string[] = []): AnyFunction {
  const inlet = new Inlet({ id: "shop", isDev: true });
  return inlet.createFunction({ id: "pay" }, { event: "shop/payment.due" }, async ({ event, step }) => {
    await step.sleep("rest", "1ms");
    const seen = await step
      .run("ask", () => {
        throw new NonRetriableError("closed");
      })
      .catch((error: Error) => error.message);
    const done: unknown[] = [seen];
    for (let index = 0; index < Number(event.data.parts); index++) {
      const part = () => {
        ran.push("part");
        if (index === 2) throw new NonRetriableError("no credit\n\nprocess.exit(3)");
        return { index };
      };
      done.push(await step.run("part", part));
    }
    return done;
  });
}

/** The test in a file beside the function, as a person would save it. */
function runTest(folder: string, code: string, source: string): Promise<{ status: number; output: string }> {
  const imports = 'import { Inlet, NonRetriableError } from "@inlet/sdk";';
  writeFileSync(join(folder, "my-function.ts"), `${imports}\n${source}\nexport const fn = failing();\n`);
  writeFileSync(join(folder, "run.test.ts"), code);
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--test", join(folder, "run.test.ts")], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}
