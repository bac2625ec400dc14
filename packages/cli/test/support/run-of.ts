/** Finds runs by their function. */

import { until } from "../../../server/test/support/runs.ts";
import type { WorkingFolder } from "./working-folder.ts";

/** The id of the newest run of a function, once it stands as asked. */
export async function runOf(place: WorkingFolder, functionId: string, status: string): Promise<string> {
  return until(`a run of ${functionId} is ${status}`, async () => {
    const { stdout } = await place.inlet(["runs", "list", "--function", functionId, "--json"]);
    const [run] = JSON.parse(stdout).data;
    return run?.status === status ? run.id : undefined;
  });
}
