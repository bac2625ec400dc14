/**
 * The databases between which environments are moved. The node that works on a move has its own connections to them, so that a move takes
 * none from the work of events and runs.
 */

import { type PlacedDatabase, StoreUnavailable } from "../../contract/index.ts";
import { type Database, PostgresDatabase } from "../../postgres/database.ts";

export interface MoveDatabasesParts {
  directory: Database;
  members(): Promise<readonly PlacedDatabase[]>;
}

const CONNECTIONS_MAX = 4;
const UNREPORTED = { onFault: () => undefined, onRecovery: () => undefined };

export class MoveDatabases {
  readonly #parts: MoveDatabasesParts;
  readonly #opened = new Map<number, Database>();

  constructor(parts: MoveDatabasesParts) {
    this.#parts = parts;
  }

  async open(no: number): Promise<Database> {
    if (no === 0) return this.#parts.directory;
    const known = this.#opened.get(no);
    if (known) return known;
    const member = (await this.#parts.members()).find((one) => one.no === no);
    if (!member) throw new StoreUnavailable(`there is no database with the number ${no}`);
    const database = new PostgresDatabase({ url: member.url, connectionsMax: CONNECTIONS_MAX, listenUrl: null, ...UNREPORTED });
    this.#opened.set(no, database);
    return database;
  }

  async closeAll(): Promise<void> {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.all(all.map((database) => database.stop()));
  }
}
