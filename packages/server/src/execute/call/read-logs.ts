/**
 * Log lines that our SDK sends behind a response. A header says how many characters at the end of the body they take; they are ASCII, so
 * characters are bytes. They come from the app, so they are bounded and checked here, whatever the SDK promised.
 */

import { withoutSecrets } from "@inlet/protocol";
import type { HeaderSet, LogLine, LogLines } from "../../store/contract/index.ts";
import { HEADER_NAMES } from "./header-names.ts";
import type { AppResponse } from "./read-response.ts";

const LINES_MAX = 100;
/** More than an SDK sends: lines that it encrypts grow. */
const MESSAGE_UNITS_MAX = 4_000;
const UNITS_MAX = 16_000;
const LEVELS: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);
const STEP_ID_UNITS_MAX = 200;
const TIME_MAX = 8.64e15;

/** The response itself, and the text of the lines behind it. */
export function splitLogs(set: HeaderSet, received: AppResponse): { received: AppResponse; logText: string | null } {
  const header = received.headers[HEADER_NAMES[set].logs];
  const length = set === "service" && typeof header === "string" ? Number(header) : 0;
  const { body } = received;
  if (!Number.isInteger(length) || length <= 0 || length > body.length) return { received, logText: null };
  return { received: { ...received, body: body.slice(0, -length) }, logText: body.slice(-length) };
}

/** Null if there are none. `secrets` are masked in them. Lines without a valid time get `now`. */
export function readLogs(text: string, secrets: readonly string[], now: number): LogLines | null {
  const { lines, dropped } = parsed(text);
  if (!Array.isArray(lines)) return null;
  const kept: LogLine[] = [];
  let units = 0;
  for (const line of lines.slice(0, LINES_MAX)) {
    const read = readLine(line, secrets, now);
    if (!read || units + read.message.length > UNITS_MAX) continue;
    units += read.message.length;
    kept.push(read);
  }
  const more = Number.isSafeInteger(dropped) && (dropped as number) > 0 ? (dropped as number) : 0;
  const missing = lines.length - kept.length + more;
  return kept.length + missing === 0 ? null : { lines: kept, dropped: missing };
}

function readLine(line: unknown, secrets: readonly string[], now: number): LogLine | null {
  if (typeof line !== "object" || line === null) return null;
  const { at, level, message, stepId } = line as Record<string, unknown>;
  if (!LEVELS.has(level)) return null;
  const text = typeof message === "string" ? message : (JSON.stringify(message) ?? "");
  return {
    at: typeof at === "number" && Math.abs(at) <= TIME_MAX ? Math.floor(at) : now,
    level: level as LogLine["level"],
    message: withoutSecrets(text, secrets, MESSAGE_UNITS_MAX),
    stepId: typeof stepId === "string" ? (stepId.slice(0, STEP_ID_UNITS_MAX) as LogLine["stepId"]) : null,
  };
}

function parsed(text: string): { lines?: unknown; dropped?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
