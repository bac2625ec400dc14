/** The flags of `inlet webhooks …`. */

import { DRILL_KINDS } from "@inlet/protocol";
import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { instantFault, PAGE_FLAGS, TIME_FLAGS } from "../command-line/list-flags.ts";
import { START_JOB_FLAGS } from "../jobs/jobs-flags.ts";
import { FOLDER_DEFAULT } from "./folder/entry.ts";

const DIR = { type: "string", placeholder: "folder", fallback: FOLDER_DEFAULT, sentence: "Folder of the webhooks." } as const;
const JSON_FLAG = { json: { type: "boolean", sentence: "Print one JSON document instead of text." } } as const;
const ENV = {
  ...CONNECTION_FLAGS.env,
  sentence: 'Environment of webhooks whose file sets none; default: the server\'s default environment. "branch": shared by all branches.',
} as const;
const PRUNE = {
  type: "boolean",
  sentence: "Also delete webhooks that are not in the folder, in the environments of its entries.",
} as const;

export const NEW_FLAGS = {
  dir: DIR,
  provider: {
    type: "string",
    placeholder: "provider",
    sentence: "Provider of the catalogue: its starter transform, verification and handshake; --list shows all.",
  },
  from: { type: "string", placeholder: "provider", sentence: "Provider of the starter transform, without verification and handshake." },
  list: { type: "boolean", sentence: "List the providers and write nothing." },
  env: { ...CONNECTION_FLAGS.env, sentence: 'Environment of the webhook, written into its file. "branch": shared by all branches.' },
  ...JSON_FLAG,
} as const satisfies Flags;
export const TEST_FLAGS = { dir: DIR, ...JSON_FLAG } as const satisfies Flags;
const SERVER_FLAGS = { dir: DIR, url: CONNECTION_FLAGS.url, "api-key": CONNECTION_FLAGS["api-key"], env: ENV, ...JSON_FLAG } as const;
export const PULL_FLAGS = {
  ...SERVER_FLAGS,
  force: { type: "boolean", sentence: "Overwrite local files that differ from the server." },
} as const satisfies Flags;
export const PLAN_FLAGS = { ...SERVER_FLAGS, prune: PRUNE } as const satisfies Flags;
export const APPLY_FLAGS = {
  ...SERVER_FLAGS,
  prune: PRUNE,
  "skip-tests": { type: "boolean", sentence: "Skip the fixtures." },
} as const satisfies Flags;

const OUTCOME = {
  type: "string",
  placeholder: "outcome",
  sentence: "Only requests with this outcome: accepted, handshake, or an error code such as transform_failed.",
} as const;

export const REQUESTS_FLAGS = { outcome: OUTCOME, ...TIME_FLAGS, ...PAGE_FLAGS, ...CONNECTION_FLAGS } as const satisfies Flags;
export const BACKTEST_FLAGS = {
  file: { type: "string", placeholder: "file", sentence: "File of the draft, such as webhooks/stripe/transform.js." },
  limit: { ...PAGE_FLAGS.limit, sentence: "How many of the newest requests, at most 100." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
export const DRILL_FLAGS = {
  kinds: {
    type: "string",
    placeholder: "kinds",
    fault: (text: string) => drillKindsFault(text),
    sentence: `Only these kinds, separated by commas: ${DRILL_KINDS.join(", ")}.`,
  },
  ...CONNECTION_FLAGS,
  env: { ...CONNECTION_FLAGS.env, sentence: "Branch environment in which the functions run; required." },
} as const satisfies Flags;

function drillKindsFault(text: string): string | null {
  const unknown = text.split(",").find((kind) => !DRILL_KINDS.some((known) => known === kind));
  return unknown === undefined ? null : `"${unknown}" is not one of ${DRILL_KINDS.join(", ")}`;
}

export const RECONCILE_FLAGS = {
  since: {
    type: "string",
    placeholder: "time",
    fallback: "72h",
    fault: instantFault("--since"),
    sentence: "Start of the time for which the provider is asked: a duration such as 15m, 2h or 7d ago, ISO 8601 or milliseconds.",
  },
  until: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--until"),
    sentence: "End time: ISO 8601 or milliseconds; default: now.",
  },
  "dry-run": { type: "boolean", sentence: "Only count what is missing. Nothing is stored." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
export const REPLAY_FLAGS = { outcome: OUTCOME, ...TIME_FLAGS, ...START_JOB_FLAGS, ...CONNECTION_FLAGS } as const satisfies Flags;
