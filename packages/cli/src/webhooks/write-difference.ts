/** Differences for the terminal. Colours are omitted if the output is not a terminal. */

import type { AcceptList } from "@inlet/protocol";
import type { FieldChange } from "../plan/object-kind.ts";
import { textDifference } from "../plan/step-lines.ts";
import { comparable, isSetting } from "./compare/changed-fields.ts";

/** The direction: `apply` changes the server, `pull` the folder. */
export type Direction = "to server" | "to folder";

export function changeLines({ field, onServer, inFolder }: FieldChange, direction: Direction): string[] {
  const [from, to] = direction === "to server" ? [onServer, inFolder] : [inFolder, onServer];
  if (field === "transform") {
    return textDifference(field, String(comparable(from)), String(comparable(to)));
  }
  if (isSetting(field)) {
    return [`${field}: ${writtenSetting(from)} -> ${writtenSetting(to)}`];
  }
  return [`${field}: ${written(from)} -> ${written(to)}`];
}

/** Secrets are names here, or the last characters that the server shows. */
export function writtenSetting(value: unknown): string {
  return value === null ? "none" : JSON.stringify(value);
}

export function written(value: unknown): string {
  if (value === null) return "everything";
  if (typeof value !== "object") return JSON.stringify(value);
  const { mode, list } = value as AcceptList;
  return `${mode} ${list.length > 0 ? list.join(", ") : "nothing"}`;
}
