/** When a schedule is due next. */

import { Cron } from "croner";

/** `TZ=Europe/Berlin 0 9 * * *`: SDKs put the time zone before the fields. Null when the schedule is over, or none. */
export function nextTick(cron: string, now: number): number | null {
  try {
    return parse(cron).nextRun(new Date(now))?.getTime() ?? null;
  } catch {
    return null;
  }
}

/** What is wrong with a schedule, or null. */
export function cronFault(cron: string): string | null {
  try {
    parse(cron);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function parse(cron: string): Cron {
  const [, timezone, fields] = /^(?:TZ=(\S+)\s+)?(.*)$/s.exec(cron.trim()) ?? [];
  return new Cron(fields ?? "", { paused: true, timezone: timezone ?? "UTC" });
}
