/** docs/reference/limits.md, generated from the constants that the code uses. */

import {
  BODY_BYTES_MAX_DEFAULT,
  DATA_DEPTH_MAX,
  DAY_MS,
  DEDUP_ID_UNITS_MAX,
  EVENT_NAME_UNITS_MAX,
  EVENTS_PER_REQUEST_MAX,
  FAULTS_REPORTED_MAX,
  KEY_UNITS_MAX,
  YEAR_MS,
} from "@inlet/protocol";
import { RULES_MAX } from "../../packages/server/src/api/alerts/rule-fields.ts";
import { RESPONSE_UNITS_MAX } from "../../packages/server/src/api/mcp/cut-response.ts";
import { BATCH_MESSAGES_MAX } from "../../packages/server/src/api/mcp/mcp-route.ts";
import { TOPICS_MAX } from "../../packages/server/src/api/realtime/read-topics.ts";
import { SCHEMA_BYTES_MAX } from "../../packages/server/src/catalogue/compile-schema.ts";
import { SETTINGS, shownDefault } from "../../packages/server/src/config/settings.ts";
import { RESPONSE_BYTES_MAX } from "../../packages/server/src/execute/call/no-response.ts";
import { DEFERRED_MAX } from "../../packages/server/src/execute/steps/deferred.ts";
import { STATE_BYTES_MAX, STEPS_MAX } from "../../packages/server/src/execute/steps/run-limits.ts";
import { EXPRESSION_LENGTH_MAX } from "../../packages/server/src/fan-out/expressions.ts";
import { PAGE_LIMITS } from "../../packages/server/src/reconcile/ask-page.ts";
import { PAGES_MAX } from "../../packages/server/src/reconcile/list-page.ts";
import { PAGE_BYTES_MAX } from "../../packages/server/src/store/shared/byte-bounds.ts";
import { SIGNAL_UNITS_MAX } from "../../packages/server/src/store/signals/contract.ts";
import { SECRETS_MAX } from "../../packages/server/src/store/webhooks/contract.ts";

const shown = (name: keyof typeof SETTINGS) => `\`${shownDefault(SETTINGS[name], "start")}\``;
const count = (value: number) => value.toLocaleString("en");
const bytes = (value: number) => (value >= 1024 * 1024 ? `${value / 1024 / 1024} MiB` : `${value / 1024} KiB`);

const ROWS: readonly [string, string, string][] = [
  ["request body", bytes(BODY_BYTES_MAX_DEFAULT), "`--body-limit`, or `bodyLimitBytes` of an environment"],
  ["events in a request", count(EVENTS_PER_REQUEST_MAX), ""],
  ["name of an event, also in a trigger", `${count(EVENT_NAME_UNITS_MAX)} characters`, ""],
  ["`id` of an event", `${count(DEDUP_ID_UNITS_MAX)} characters`, ""],
  ["delay of runs by `ts`", `${YEAR_MS / DAY_MS} days; a later \`ts\` delays nothing`, ""],
  ["depth of `data`", `${count(DATA_DEPTH_MAX)} levels`, ""],
  ["faults listed in an error", count(FAULTS_REPORTED_MAX), ""],
  ["event key in a path", `${count(KEY_UNITS_MAX)} characters`, ""],
  ["time in which an `id` is a duplicate", shown("dedupWindow"), "`--dedup-window`"],
  ["CPU time of a transform", shown("transformTimeout"), "`--transform-timeout`"],
  ["memory of a transform", shown("transformMemory"), "`--transform-memory`"],
  ["page of what a provider lists", `${bytes(PAGE_LIMITS.bytesMax)}, ${PAGE_LIMITS.timeoutMs / 1_000} s`, ""],
  ["pages of a pass of reconciliation", count(PAGES_MAX), ""],
  ["secrets of a webhook's verification", count(SECRETS_MAX), ""],
  ["steps of a run", count(STEPS_MAX), ""],
  ["results of all steps of a run together", bytes(STATE_BYTES_MAX), ""],
  ["response of an app to a call", bytes(RESPONSE_BYTES_MAX), ""],
  ["functions that a run defers", count(DEFERRED_MAX), ""],
  ["name of a signal", `${count(SIGNAL_UNITS_MAX)} characters`, ""],
  ["expression", `${count(EXPRESSION_LENGTH_MAX)} characters`, ""],
  ["declared schema", bytes(SCHEMA_BYTES_MAX), ""],
  ["topics of a realtime subscription", count(TOPICS_MAX), ""],
  ["alert rules of an environment", count(RULES_MAX), ""],
  ["items on a page of a list", "100", ""],
  ["size of a page of a list", bytes(PAGE_BYTES_MAX), ""],
  ["response of a tool", `${count(RESPONSE_UNITS_MAX)} characters`, ""],
  ["messages in a request to `/mcp`", count(BATCH_MESSAGES_MAX), ""],
  ["events, ended runs and recorded requests", shown("eventRetention"), "`--event-retention`, `--run-retention`, `--request-retention`"],
];

export function limitsPage(generated: string): string {
  const rows = ROWS.map(([what, limit, setting]) => `| ${what} | ${limit} | ${setting} |`);
  return `${generated}

# Limits

What is over a limit is refused with an [error](errors.md) that says so.

| what | at most | how to change it |
|---|---|---|
${rows.join("\n")}

[Settings](configuration.md) lists every setting with its bounds.
`;
}
