/** The fields in which an entry of the folder and a webhook of the server differ. */

import { isDeepStrictEqual } from "node:util";
import type { Entry } from "../folder/entry.ts";
import type { ServerWebhook } from "./server-webhook.ts";

export const COMPARED_FIELDS = ["name", "enabled", "eventNames", "ips", "transform"] as const;
export type ComparedField = (typeof COMPARED_FIELDS)[number];

export interface FieldChange {
  field: ComparedField;
  onServer: unknown;
  inFolder: unknown;
}

export function changedFields(entry: Entry, webhook: ServerWebhook): FieldChange[] {
  return COMPARED_FIELDS.filter((field) => !isDeepStrictEqual(comparable(entry[field]), comparable(webhook[field]))).map((field) => ({
    field,
    onServer: webhook[field],
    inFolder: entry[field],
  }));
}

/** Ignores line endings and trailing blank lines, which differ between editors, browsers and Git settings. */
export function comparable(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\r\n", "\n").trimEnd() : value;
}
