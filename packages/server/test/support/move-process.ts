/** A process that works on moves until it is killed. It says which point it has reached, and stands still at the one that is named. */

import { moveStore, openDatabase } from "./move-scene.ts";

const [directoryUrl = "", memberUrl = "", stopAt = ""] = process.argv.slice(2);
const store = moveStore(openDatabase(directoryUrl), [directoryUrl, memberUrl], {
  timing: { holdMs: 60_000, fenceMs: 0 },
  atPoint: (point) => (point === stopAt ? stand() : Promise.resolve()),
});

function stand(): Promise<never> {
  process.stdout.write("reached\n");
  return new Promise(() => undefined);
}

// Keeps the process alive while it stands.
setInterval(() => undefined, 60_000);
while (await store.environmentMoveAdvance({ now: Date.now(), leaseMs: 60_000 }));
process.stdout.write("nothing to do\n");
