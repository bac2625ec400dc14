/** The registered triggers of a function: event names with a condition, and schedules. */

import type { Fields } from "./fields.ts";
import { cronFault } from "./starts/crons.ts";
import { triggerNameFault } from "./triggers.ts";

const TRIGGERS_MAX = 10;
const CRON_LENGTH_MAX = 255;
const JITTER_MS_MIN = 1_000;
const JITTER_MS_MAX = 300_000;
const EVENT_FIELDS: readonly string[] = ["event", "expression"];
const CRON_FIELDS: readonly string[] = ["cron", "jitter"];

export interface RegisteredEventTrigger {
  event: string;
  expression: string | null;
}

export interface CronTrigger {
  /** As registered: `TZ=Europe/Paris 0 12 * * 5`. */
  cron: string;
  /** Without the time zone: five fields, or a word such as @daily. */
  schedule: string;
  /** Null: UTC. */
  timezone: string | null;
  /** Each start is delayed by a random time up to this. */
  jitterMs: number | null;
}

export type Trigger = RegisteredEventTrigger | CronTrigger;

/**
 * An empty list is allowed: such a function can only be invoked. `isStrict` refuses unknown fields: our SDK sends none, so each is a
 * mistake. The published SDKs of Inngest may send fields that mean nothing here.
 */
export function readTriggers(fields: Fields, { isStrict }: { isStrict: boolean }): Trigger[] {
  const list = fields.list("triggers", TRIGGERS_MAX);
  const strictly = isStrict ? list : [];
  for (const given of strictly) {
    if (given.value("cron") === null) given.refuseOthers(EVENT_FIELDS, CRON_FIELDS);
    else given.refuseOthers(CRON_FIELDS, EVENT_FIELDS);
  }
  const triggers = list.flatMap((given) => readTrigger(given) ?? []);
  const texts = triggers.map((trigger) => JSON.stringify(trigger));
  if (new Set(texts).size < texts.length) fields.fault("triggers", "has the same trigger twice");
  return triggers;
}

function readTrigger(given: Fields): Trigger | null {
  const event = given.text("event");
  const cron = given.text("cron");
  if (event !== null && event !== "") {
    const nameFault = triggerNameFault(event);
    if (nameFault) given.fault("event", nameFault);
    return { event, expression: given.expression("expression") };
  }
  if (cron === null || cron === "") return given.fault("event", "is required, unless there is a cron");
  return readCron(cron, given);
}

function readCron(cron: string, given: Fields): CronTrigger {
  if (cron.length > CRON_LENGTH_MAX) given.fault("cron", `is longer than ${CRON_LENGTH_MAX} characters`);
  const zoned = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/.exec(cron.trim());
  const timezone = zoned?.[1] ?? null;
  const schedule = zoned?.[2]?.trim() ?? cron.trim();
  if (timezone !== null && !isTimezone(timezone)) given.fault("cron", `names the time zone ${timezone}, which is not known`);
  if (!/^@[a-z]+$/.test(schedule) && schedule.split(/\s+/).length !== 5)
    given.fault("cron", "must have five fields: minute, hour, day of month, month, day of week");
  else {
    const fault = cronFault(schedule);
    if (fault) given.fault("cron", `cannot be read: ${fault}`);
  }
  return { cron, schedule, timezone, jitterMs: given.duration("jitter", JITTER_MS_MIN, JITTER_MS_MAX) };
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
