import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment } from "../../store/contract/index.ts";
import { type Job, StoreUnavailable } from "../../store/contract/index.ts";
import { type EraseEventsParts, eraseEvents } from "./erase-events.ts";

test("an erasure that cannot clean up after itself says that everything is erased, and what went wrong", async () => {
  const cause = new StoreUnavailable("timed out waiting for a lock");
  const kind = eraseEvents({ store: { erasureSettle: () => Promise.reject(cause) } } as unknown as EraseEventsParts);
  await assert.rejects(kind.settle?.({} as Job) ?? Promise.resolve(), {
    message: "Everything is erased, but the space it took in the store could not be cleaned: timed out waiting for a lock",
    cause,
  });
});

test("one event by its id is the only one that is found, in the archive too", async () => {
  const ids = ["01J00000000000000000000001", "01J00000000000000000000002"];
  const events = ids.map((id, sequence) => ({ id, sequence }));
  const kind = eraseEvents({
    store: { eventGet: async () => null, eventList: async () => ({ events: [], next: null }) },
    archive: { eventFind: async () => ({ events, next: null }) },
  } as unknown as EraseEventsParts);
  const environment = { id: 1, name: "production" } as unknown as Environment;
  const { signal } = new AbortController();
  const inStore = await kind.find(environment, { event: ids[1] }, null, signal);
  assert.deepEqual([inStore.found.length, inStore.next], [0, "archive "]);
  const archived = await kind.find(environment, { event: ids[1] }, inStore.next, signal);
  assert.deepEqual(
    archived.found.map(({ item }) => item),
    [1],
  );
});
