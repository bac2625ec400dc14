/** Finds runs by their function. */

import { setTimeout as sleep } from "node:timers/promises";
import type { WorkingFolder } from "./working-folder.ts";

/** The id of the newest run of a function, once it stands as asked. */
export async function runOf(place: WorkingFolder, functionId: string, status: string): Promise<string> {
  const deadline = Date.now() + 300_000;
  for (;;) {
    const { stdout } = await place.inlet(["runs", "list", "--function", functionId, "--json"]);
    const [run] = JSON.parse(stdout).data;
    if (run?.status === status) return run.id;
    if (Date.now() > deadline) throw new Error(`no run of ${functionId} is ${status}: ${stdout}`);
    await sleep(20);
  }
}
