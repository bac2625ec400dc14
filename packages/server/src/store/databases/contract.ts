/**
 * The databases on which environments are placed. The store's own database is the directory: it has the number 0, the name `directory`,
 * and no row. Every other is a member. All members carry the numbers of the directory: see DATABASES_MAX.
 */

/** The name of the store's own database, which no member may have. */
export const DIRECTORY_NAME = "directory";
export const DIRECTORY_NO = 0;

/**
 * The number of databases, with the directory. Sequences of each count in steps of this, and leave its number as the remainder: rows of
 * an environment can be moved to another database without a change, because no number is given twice.
 */
export const DATABASES_MAX = 64;

export interface PlacedDatabase {
  /** 1 to 63. */
  no: number;
  name: string;
  /** With its password: for connections only, never shown. */
  url: string;
  /** The URL of a replica for reads; null: there is none. */
  readUrl: string | null;
  createdAt: number;
}

export interface DatabaseRefused {
  refused: "database_unreachable" | "database_taken" | "database_exists" | "databases_too_many" | "databases_unsupported";
  /** A sentence for people, without a password. */
  reason: string;
}

export interface DatabaseStore {
  /** The members, by number. Always empty on an embedded store. */
  databaseList(): Promise<PlacedDatabase[]>;
  /** Prepares a database and adds it as a member. If it is refused, nothing is added. */
  databaseAdd(params: Omit<PlacedDatabase, "no">): Promise<PlacedDatabase | DatabaseRefused>;
}
