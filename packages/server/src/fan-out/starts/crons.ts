/** When a schedule is due. */

import { Cron } from "croner";

/** Null when the schedule is over, or is none. */
export function nextTick(cron: string, now: number): number | null {
  return scheduleOf(cron)?.nextRun(new Date(now))?.getTime() ?? null;
}

/** The tick that is due at this time, or was last: however late a tick is worked on, and however often, it is the same one. */
export function tickAt(cron: string, now: number): number {
  // croner looks at whole seconds, and for what lies before the one it is given.
  return (
    scheduleOf(cron)
      ?.previousRuns(1, new Date(now + 1_000))[0]
      ?.getTime() ?? now
  );
}

/** What is wrong with a schedule, or null. */
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
