/** When a schedule is due. */

import { Cron } from "croner";

/** Null if the schedule has ended or is invalid. */
export function nextTick(cron: string, now: number): number | null {
  return scheduleOf(cron)?.nextRun(new Date(now))?.getTime() ?? null;
}

/** The tick that is due at this time, or the last one: however late and however often a tick is processed, it is the same one. */
export function tickAt(cron: string, now: number): number {
  // croner works with whole seconds, and looks strictly before the given one.
  return (
    scheduleOf(cron)
      ?.previousRuns(1, new Date(now + 1_000))[0]
      ?.getTime() ?? now
  );
}

/** The fault of a schedule, or null. */
export function cronFault(cron: string): string | null {
  try {
    parse(cron);
    return null;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, "");
  }
}

function scheduleOf(cron: string): Cron | null {
  try {
    return parse(cron);
  } catch {
    return null;
  }
}

/** `TZ=Europe/Berlin 0 9 * * *`: SDKs put the time zone before the fields. */
function parse(cron: string): Cron {
  const { timezone = "UTC", fields = cron } = /^(?:CRON_)?TZ=(?<timezone>\S+)(?<fields>.*)/s.exec(cron.trim())?.groups ?? {};
  return new Cron(fields.trim(), { timezone });
}
