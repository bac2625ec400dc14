/** The flags of `inlet env …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { TIME_FLAGS } from "../command-line/list-flags.ts";

/** These are about environments, not within one. */
const { env: _, ...INSTALLATION_FLAGS } = CONNECTION_FLAGS;

export const PLAIN_FLAGS = INSTALLATION_FLAGS satisfies Flags;
const quotaFlag = (what: string) => ({ type: "string", placeholder: "number", sentence: `${what} "none" removes the quota.` }) as const;
export const QUOTAS_FLAGS = {
  "events-per-second": quotaFlag("Events accepted in a second."),
  "events-per-day": quotaFlag("Events accepted in a day (UTC)."),
  "bytes-per-day": quotaFlag("Bytes of bodies accepted in a day (UTC)."),
  "calls-at-once": quotaFlag("Calls to apps at the same time."),
  "stored-bytes": quotaFlag("Bytes of stored events, runs and webhook requests."),
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;
export const USAGE_FLAGS = {
  by: {
    type: "string",
    choices: ["environment", "key", "webhook", "function"],
    fallback: "environment",
    sentence: "What to group the figures by.",
  },
  interval: { type: "string", choices: ["hour", "day"], fallback: "day", sentence: "The time that each line covers. Days are UTC." },
  from: {
    ...TIME_FLAGS.from,
    sentence: "Start time: a duration such as 2h or 7d ago, ISO 8601 or milliseconds; default: 30 days ago (day) or 24 hours ago (hour).",
  },
  to: { ...TIME_FLAGS.to, sentence: "End time, in the same formats; default: now." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
export const MOVE_FLAGS = {
  to: { type: "string", placeholder: "database", sentence: 'The name of the database. "inlet databases list" shows them.' },
  detach: { type: "boolean", sentence: "Do not wait until the move has ended." },
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;
export const CREATE_FLAGS = {
  kind: {
    type: "string",
    choices: ["branch", "custom"],
    fallback: "branch",
    sentence: "branch: for a preview, shares keys and webhooks with all branches. custom: has its own.",
  },
  database: {
    type: "string",
    placeholder: "name",
    sentence: 'The database that holds a custom environment; default: "directory". "inlet databases list" shows them.',
  },
  "if-missing": { type: "boolean", sentence: "Succeed if the environment exists. Unarchives it if necessary." },
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;
