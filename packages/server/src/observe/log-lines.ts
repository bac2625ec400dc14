/** Formats log records as readable lines: time, level, message, and details. Stack traces are only in `--log json`. */

import { styleText } from "node:util";

export const LABEL_UNITS = 9;
/** Values of pino's levels. */
const [WARN, ERROR] = [40, 50];
const OWN_FIELDS = new Set(["level", "time", "msg", "err", "pid", "hostname"]);

/** `record` is one line of pino's output. */
export function logLine(record: string): string {
  const fields = JSON.parse(record) as { level: number; time: number; msg?: string; err?: { message?: string } } & Record<string, unknown>;
  const { level, time, msg = "", err } = fields;
  const [label, colour] =
    level >= ERROR ? (["error", "red"] as const) : level >= WARN ? (["warning", "yellow"] as const) : (["info", "dim"] as const);
  const about = Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name));
  const details = [...about.map(([name, value]) => `${name} ${shown(value)}`), ...(err?.message ? [err.message] : [])].join(", ");
  const at = new Date(time).toISOString().slice(11, 23);
  return `${styleText("dim", at)}  ${styleText(colour, label.padEnd(LABEL_UNITS))}  ${visible(details ? `${msg}: ${details}` : msg)}\n`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Text from an app or a sender must not control the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
