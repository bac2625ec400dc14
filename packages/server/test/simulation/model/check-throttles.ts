/** Runs are admitted no faster than their throttle says, whichever node admits them and however long they wait for their first call. */

import { fullId } from "../scenario.ts";
import { durationMs, type Evidence } from "./evidence.ts";

export function checkThrottles(evidence: Evidence, fault: (message: string) => void): void {
  const { journal, functionIds, scenario } = evidence.played;
  for (const [key, admissions] of journal.admissions) {
    const id = functionIds.get(Number(key.split("/")[0])) ?? "";
    const throttle = scenario.functions.find((fn) => fullId(fn) === id)?.flow.throttle;
    if (!throttle) {
      fault(`${id}: runs were admitted by a throttle that it does not have`);
      continue;
    }
    const { limit, period, burst = 0 } = throttle;
    const periodMs = durationMs(period) ?? 1_000;
    const starts = admissions.flatMap(({ at, count }) => Array.from({ length: count }, () => at)).sort((a, b) => a - b);
    const tooMany = starts.flatMap((first, from) => {
      const to = starts.findLastIndex((start) => start < first + periodMs);
      const passedMs = (starts[to] as number) - first;
      // A millisecond, since intervals are rounded to whole ones.
      const allowed = burst + 1 + Math.floor(((passedMs + 1) * limit) / periodMs);
      return to - from + 1 > allowed ? [`${to - from + 1} runs were admitted within ${passedMs} ms`] : [];
    })[0];
    if (tooMany) fault(`${id}: ${tooMany}, where ${limit} each ${period} (burst ${burst}) may`);
  }
}
