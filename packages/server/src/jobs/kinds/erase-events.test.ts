import assert from "node:assert/strict";
import { test } from "node:test";
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
