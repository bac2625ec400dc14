/** A node that is killed while it archives loses nothing: the partition is still there, and the next node writes the file whole. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeScene } from "../src/store/conformance/run-samples.ts";
import { appendAt, archiveAll, archiveFolder, archiveOf, DAY_MS, dayText, openArchivedStore, rowsIn } from "./support/archive-scene.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const SCRIPT = fileURLToPath(new URL("support/archive-until.ts", import.meta.url));
const EVENTS = 5;

async function reached(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) return line;
  assert.fail("it ended before the point");
}

for (const point of ["before the file is finished", "before it is verified", "before the partition is dropped"]) {
  test(`killed ${point}`, { skip: whyNoPostgres() ?? false }, async (t) => {
    const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
    const store = await openArchivedStore(t, url);
    const { environment } = await makeScene(store);
    const at = Date.now() - 3 * DAY_MS;
    await appendAt(store, environment, at, Array(EVENTS).fill({}));
    const child = spawn(process.execPath, [SCRIPT, url, folder, point], { stdio: ["ignore", "pipe", "inherit"] });
    t.after(() => child.kill("SIGKILL"));
    assert.equal(await reached(child), `reached ${point}`);
    child.kill("SIGKILL");
    await once(child, "exit");

    const { events } = await store.eventList({ environmentId: environment.id, limit: 10 });
    assert.equal(events.length, EVENTS, "nothing was dropped");
    // The lease of the node that was killed has run out.
    await archiveAll(
      store,
      archiveOf(store, folder, () => store.storeNow() + DAY_MS),
    );
    assert.equal((await store.eventList({ environmentId: environment.id, limit: 10 })).events.length, 0);
    const rows = await rowsIn(folder, "events", `production/events/${dayText(at)}.parquet`);
    assert.deepEqual(
      rows.map(({ event_id }) => event_id),
      events.map(({ id }) => id).reverse(),
    );
  });
}
