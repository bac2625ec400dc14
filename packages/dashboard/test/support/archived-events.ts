/** The list of archived events and the page of one, with what the service says when a file cannot be read. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Browser } from "playwright-core";
import { fileName } from "../../../server/src/archive/file-names.ts";
import { writeFile as writeArchived } from "../../../server/src/archive/files/write-file.ts";
import { folderTarget } from "../../../server/src/archive/targets/folder-target.ts";
import { openPage } from "./browser.ts";

const DAY = 20_000;
const FILE = fileName("dev", "events", DAY);
/** The id begins with the time of the day's first millisecond. */
const ID = "01J9AD70000000000000000001";

async function* rows() {
  const ids = [ID, "01J9AD70000000000000000002"];
  for (const [n, event_id] of ids.entries()) {
    const times = { ts: DAY * 86_400_000, received_at: DAY * 86_400_000 };
    const source = { source_kind: "key", source_id: "k", duplicates: 0, matched: 1 };
    yield {
      environment: "dev",
      sequence: n,
      event_id,
      name: ["shop/paid", "shop/sent"][n] as string,
      ...times,
      ...source,
      data: `{"old":${n}}`,
    };
  }
}

/** The environment is `dev`, and has nothing in the archive yet. */
export async function archivedEvents(t: TestContext, browser: Browser, url: string, folder: string): Promise<void> {
  const page = await openPage(t, browser, `${url}/env/dev/events?q=anything&name=shop/*`, { allow: /status of 503/ });
  // Clicked, not checked: it shows what is in the address, a moment later.
  const toggle = page.getByRole("checkbox", { name: "Archived" });
  await toggle.click();
  await page.waitForURL("**/events?archived=true&name=shop%2F*");
  await page.getByText("No archived event matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await toggle.click();
  await page.getByText("The archive has no events of this environment").waitFor();
  assert.equal(await page.getByRole("searchbox", { name: "Text in the payload" }).count(), 0, "nothing is offered that would be refused");

  const upload = await folderTarget(folder).create(FILE);
  await writeArchived("events", rows(), upload);
  await upload.finish(() => undefined);
  await page.reload();
  await page.getByText("2 events in total").waitFor();
  await page.getByRole("listitem").filter({ hasText: "shop/sent" }).click();
  const panel = page.getByRole("complementary", { name: "Event" });
  await panel.getByRole("heading", { name: "shop/sent" }).waitFor();
  await panel.getByText("This event is in the archive.").waitFor();
  // Found by the time of its id, in a list that does not have it.
  await page.goto(`${url}/env/dev/events/${ID}?archived=true&name=shop/sent`);
  await panel.getByRole("heading", { name: "shop/paid" }).waitFor();
  await page.getByText("1 event in total").waitFor();

  const path = join(folder, FILE);
  const bytes = await readFile(path);
  await writeFile(path, "damaged");
  await page.goto(`${url}/env/dev/events?archived=true`);
  await page.getByText("store_unavailable · 503").waitFor();
  await writeFile(path, bytes);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("2 events in total").waitFor();
  await toggle.click();
  await page.waitForURL("**/env/dev/events");
}
