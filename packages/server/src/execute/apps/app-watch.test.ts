import assert from "node:assert/strict";
import { test } from "node:test";
import { type App, StoreUnavailable } from "../../store/contract/index.ts";
import { AppWatch } from "./app-watch.ts";

test("a store that cannot be written while an app is synced: told, and tried again in the next round", async (t) => {
  const url = "http://127.0.0.1:1/api/inlet";
  const faults: string[] = [];
  let rounds = 0;
  // The watch itself keeps no process alive.
  const alive = setInterval(() => undefined, 1_000);
  t.after(() => clearInterval(alive));
  const synced = new Promise<void>((resolve) => {
    const watch = new AppWatch({
      urls: [url],
      discovers: false,
      asksAgain: false,
      ownPort: () => 0,
      known: () => [],
      async sync() {
        if (++rounds === 1) throw new StoreUnavailable("the disk is full");
        resolve();
        return { url } as App;
      },
      onFault: (_url, fault) => void faults.push(fault),
    });
    t.after(() => watch.stop());
    watch.start();
  });
  await synced;
  assert.deepEqual(faults, ["the disk is full"]);
});
