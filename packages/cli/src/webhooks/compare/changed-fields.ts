/** The fields in which an entry of the folder and a webhook of the server differ. */

import { isDeepStrictEqual } from "node:util";
import { RECONCILE_DEFAULTS } from "@inlet/protocol";
import { completeVerify, type GivenVerify } from "@inlet/server/transform";
import type { FieldChange } from "../../plan/object-kind.ts";
import type { Entry } from "../folder/entry.ts";
import { sameSecrets } from "../folder/secret-names.ts";
import type { ServerWebhook } from "./server-webhook.ts";

const SETTINGS = ["verify", "handshake", "answer", "mirror", "reconcile"] as const;
type SettingField = (typeof SETTINGS)[number];

export const COMPARED_FIELDS = ["name", "enabled", "eventNames", "ips", ...SETTINGS, "transform"] as const;
export type ComparedField = (typeof COMPARED_FIELDS)[number];

export function changedFields(entry: Entry, webhook: ServerWebhook): FieldChange[] {
  return COMPARED_FIELDS.filter((field) => !isSame(entry, webhook, field)).map((field) => ({
    field,
    onServer: webhook[field],
    inFolder: entry[field],
  }));
}

function isSame(entry: Entry, webhook: ServerWebhook, field: ComparedField): boolean {
  if (!isSetting(field)) return isDeepStrictEqual(comparable(entry[field]), comparable(webhook[field]));
  const [mine, theirs] = [entry[field], webhook[field]];
  if (!mine || !theirs) return mine === theirs;
  const { secrets: names, ...inFolder } = mine;
  const { secrets: shown, ...onServer } = theirs;
  return isDeepStrictEqual(withDefaults(field, inFolder), onServer) && sameSecrets(entry, names, shown ?? []);
}

export function isSetting(field: string): field is SettingField {
  return (SETTINGS as readonly string[]).includes(field);
}

/** As the server fills them in. */
function withDefaults(field: SettingField, given: object): object {
  if (field === "verify") return completeVerify(given as GivenVerify);
  if (field === "answer") return { status: 200, contentType: "text/plain", body: "", ...given };
  if (field === "reconcile") return { ...RECONCILE_DEFAULTS, ...given };
  return field === "mirror" ? { sample: 1, ...given } : given;
}

/** Ignores line endings and trailing blank lines, which differ between editors, browsers and Git settings. */
export function comparable(value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\r\n", "\n").trimEnd() : value;
}
