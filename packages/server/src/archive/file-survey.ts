/**
 * What the files of an environment may hold, by the bounds in their footers, so that an erasure opens only those that may concern it. A footer
 * is read once for each version of a file: a file that anybody replaced since has another one.
 */

import type { ArchivedTable, Environment } from "../store/contract/index.ts";
import { dayOfFile, tablePrefix } from "./file-names.ts";
import { type ArchiveStorage, type FileGroup, groupsOf, type KnownBounds } from "./files/read-file.ts";

/** A file, or a group of its rows. */
export type Bounded = Pick<FileGroup, "bounds">;

export interface SurveyedFile extends Bounded {
  table: ArchivedTable;
  name: string;
}

/** The columns by which rows are found. */
export const KEY_COLUMNS: Readonly<Record<ArchivedTable, readonly string[]>> = {
  events: ["sequence", "event_id", "source_run_id"],
  runs: ["run_id", "event_sequence", "event_sequences"],
  steps: ["run_id", "event_id"],
};
/** What is known of more files than that is forgotten. */
const FILES_MAX = 20_000;

type FileBounds = ReadonlyMap<string, KnownBounds>;

export class FileSurvey {
  readonly #storage: ArchiveStorage;
  readonly #known = new Map<string, { version: string; bounds: FileBounds }>();

  constructor(storage: ArchiveStorage) {
    this.#storage = storage;
  }

  /** In ascending order of their days. */
  async files({ name: environment }: Environment, table: ArchivedTable): Promise<SurveyedFile[]> {
    const files: SurveyedFile[] = [];
    for (const { name, version } of await this.#storage.target.list(tablePrefix(environment, table))) {
      if (dayOfFile(name) === null) continue;
      const bounds = await this.#boundsOf(table, name, version);
      if (bounds) files.push({ table, name, bounds: (column) => bounds.get(column) ?? "unknown" });
    }
    return files;
  }

  /** Null: it is gone. */
  async #boundsOf(table: ArchivedTable, name: string, version: string | null): Promise<FileBounds | null> {
    const known = this.#known.get(name);
    if (known && known.version === version) return known.bounds;
    const { target, decoder } = this.#storage;
    const file = await target.open(name);
    if (!file) return null;
    try {
      const groups = await groupsOf(decoder, table, file);
      const bounds = new Map(
        KEY_COLUMNS[table].map((column) => [column, groups.map((group) => group.bounds(column)).reduce(both, "none")]),
      );
      if (this.#known.size >= FILES_MAX) this.#known.clear();
      if (version !== null) this.#known.set(name, { version, bounds });
      return bounds;
    } finally {
      await file.close();
    }
  }
}

function both(one: KnownBounds, other: KnownBounds): KnownBounds {
  if (one === "unknown" || other === "unknown") return "unknown";
  if (one === "none" || other === "none") return one === "none" ? other : one;
  return { first: one.first < other.first ? one.first : other.first, last: one.last > other.last ? one.last : other.last };
}
