/** A stop or a crash of a node changes nothing about the order of the calls that wait: urgent ones first, then the oldest. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp } from "./support/app.ts";
import { Gate } from "./support/flow-control.ts";
import { startNode } from "./support/nodes.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { call, temporaryFolder } from "./support/service.ts";

const URGENT = Array.from({ length: 10 }, (_, n) => `urgent ${n}`);
const NORMAL = Array.from({ length: 60 }, (_, n) => `normal ${n}`);
/** One call at a time, of which some are claimed ahead and the others wait in the store. */
const FLAGS = ["--app-calls", "1", "--queue-prefetch", "20"];

interface Place {
  flags: string[];
  /** Waits until nothing that the dead node held is leased. */
  leasesAreOver(): Promise<unknown>;
}

const STORES: Record<string, (t: TestContext) => Promise<Place>> = {
  sqlite: async (t) => ({ flags: ["--data-dir", temporaryFolder(t)], leasesAreOver: async () => undefined }),
  async postgres(t) {
    const url = await migratedDatabase(t);
    const leased = "SELECT FROM queue WHERE lease_id IS NOT NULL AND due_at > extract(epoch FROM clock_timestamp()) * 1000";
    const isOver = async () => (await inDatabase(url, (client) => client.query(leased))).rowCount === 0 || undefined;
    return { flags: ["--database-url", url], leasesAreOver: () => until("the end of the leases", isOver) };
  },
};

for (const [store, placeOf] of Object.entries(STORES)) {
  const skip = (store === "postgres" && whyNoPostgres()) || false;

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    test(`${store}: after ${signal}, waiting calls are made in the order they had`, { skip }, async (t) => {
      const { flags, leasesAreOver } = await placeOf(t);
      const gate = new Gate();
      const node = await startNode(t, [...flags, ...FLAGS]);
      await startApp(t, node, (inlet) => [
        inlet.createFunction({ id: "fn", priority: { run: "event.data.ahead" } }, { event: "app/go" }, ({ event }) =>
          gate.pass(event.data.name as string),
        ),
      ]);
      const events = (names: readonly string[]) =>
        names.map((name) => ({ name: "app/go", data: { name, ahead: name.startsWith("urgent") ? 600 : 0 } }));
      // Some urgent ones are claimed ahead, and some come later and wait in the store.
      const first = [...NORMAL.slice(0, 3), ...URGENT.slice(0, 5), ...NORMAL.slice(3)];
      for (const names of [first, URGENT.slice(5)]) assert.equal((await node.send(events(names))).status, 200);
      await gate.full(1);
      assert.deepEqual(gate.order, ["urgent 0"]);

      if (signal === "SIGTERM") {
        const stopping = node.end("SIGTERM");
        await until("it stops", async () => (await call(`${node.url}/ready`).catch(() => null))?.status !== 200 || undefined);
        gate.open();
        assert.equal(await stopping, 0);
      } else {
        await node.end("SIGKILL");
        gate.open();
        await leasesAreOver();
      }
      const before = gate.order.length;
      await startNode(t, [...flags, ...FLAGS]);
      const expected = [...URGENT, ...NORMAL].slice(signal === "SIGTERM" ? 1 : 0);
      await until("all calls", () => gate.order.length >= before + expected.length || undefined);
      assert.deepEqual(gate.order.slice(before), expected);
    });
  }
}
