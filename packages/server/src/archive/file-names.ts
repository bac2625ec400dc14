/**
 * Names of archived files: `<environment>/<table>/<day>.parquet`. An environment is one folder, whatever its name: `/` is written as `~`, and
 * `.` at the beginning as `@`. Neither character occurs in names of environments, so each folder stands for one of them, and none for a
 * place outside of the archive.
 */

import { DAY_MS } from "@inlet/protocol";
import type { ArchivedTable } from "../store/contract/index.ts";

const FILE = /\/(\d{4}-\d{2}-\d{2})\.parquet$/;

export function folderOf(environment: string): string {
  return environment.replaceAll("/", "~").replace(/^\./, "@");
}

/** `day` is counted from 1970. */
export function fileName(environment: string, table: ArchivedTable, day: number): string {
  return `${tablePrefix(environment, table)}${new Date(day * DAY_MS).toISOString().slice(0, 10)}.parquet`;
}

export function tablePrefix(environment: string, table: ArchivedTable): string {
  return `${folderOf(environment)}/${table}/`;
}

/** Null: not a file of the archive. */
export function dayOfFile(name: string): number | null {
  const [, text] = FILE.exec(name) ?? [];
  const day = Date.parse(`${text}T00:00:00Z`) / DAY_MS;
  return Number.isNaN(day) ? null : day;
}
