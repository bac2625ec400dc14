/** Many changes of the catalogue at once all succeed: the reads that follow them are shared. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";

const CHANGES = 200;

async function changeAtOnce(service: TestService): Promise<void> {
  const names = Array.from({ length: CHANGES }, (_, n) => `many/changes.${n}`);
  const schema = { type: "object", required: ["id"] };
  const put = (name: string) => service.rest("PUT", `/event-types/${encodeURIComponent(name)}`, { body: { schema, mode: "refuse" } });
  const answers = await Promise.all(names.map(put));
  const refused = answers.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body?.code]),
    [],
  );
  const { status } = await service.send({ name: names.at(-1), data: {} });
  assert.equal(status, 400, "each change is in force when it is answered");
}

test("on the embedded store", async (t) => changeAtOnce(await startTestService(t)));

test("on PostgreSQL", { skip: whyNoPostgres() ?? false }, async (t) =>
  changeAtOnce(await startTestService(t, { hasDefaultConnections: true, databaseUrl: await migratedDatabase(t) })),
);
