/** The data folder of a simulation, in memory where the machine offers that. A crash is a copy of its files at that instant. */

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, RunId } from "@inlet/protocol";
import { waitRules } from "../../src/fan-out/waits.ts";
import type { RunDetails, Store, StoredEvent } from "../../src/store/contract/index.ts";
import { DATABASE_FILE } from "../../src/store/sqlite/database.ts";
import { KEY_FILE } from "../../src/store/sqlite/folder/key-file.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { addInvariants, brokenInvariants } from "./invariants.ts";

export interface StoreContent {
  /** Oldest first. */
  runs: RunDetails[];
  events: StoredEvent[];
  /** Invariants that a transaction broke. */
  broken: string[];
}

export interface SimStores {
  open(): Promise<Store>;
  /** As an operator reaches it, who needs no node for that. */
  operator(store: Store): Store;
  /** The process that uses it is up: from now on, its connections may break. */
  disturb(store: Store): void;
  /** What is there now is all that is left. */
  crash(store: Store): void;
  close(store: Store): Promise<void>;
  /** Which of these numbers are still in it, in whatever place. */
  traces(store: Store, numbers: readonly number[]): Promise<number[]>;
  /** Moves the environment of the scenario between databases until `endMoves`. Absent: it stays where it is. */
  startMoves?(): void;
  /** How often it changed its place. */
  endMoves?(): Promise<number>;
  read(at: { store: Store; environmentId: EnvironmentId }): Promise<StoreContent>;
  remove(): Promise<void>;
}

const FILES = [DATABASE_FILE, `${DATABASE_FILE}-wal`, KEY_FILE];
const MEMORY = "/dev/shm";
const PAGE = 500;
/** A store over a network has few connections, and nobody waits for one for long. */
const READ_AT_ONCE = 4;

export function createFolders({ isErasing }: { isErasing: boolean }): SimStores {
  const root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), "inlet-simulation-"));
  const left: Promise<void>[] = [];
  let opened = 0;
  let folder = join(root, "0");
  return {
    async open() {
      const store = openSqliteStore({ folder, rules: waitRules, onFault: () => undefined, onRecovery: () => undefined });
      addInvariants(join(folder, DATABASE_FILE), { isErasing });
      return store;
    },
    operator: (store) => store,
    disturb: () => undefined,
    crash(store) {
      const next = join(root, String(++opened));
      mkdirSync(next);
      for (const file of FILES) if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(next, file));
      left.push(store.stop());
      folder = next;
    },
    close: (store) => store.stop(),
    async traces(_, numbers) {
      if (numbers.length === 0) return [];
      const text = textInUse(join(folder, DATABASE_FILE));
      return numbers.filter((n) => text.includes(String(n)));
    },
    async read({ store, environmentId }) {
      const read = await readAll(store, environmentId);
      left.push(store.stop());
      return { ...read, broken: brokenInvariants(join(folder, DATABASE_FILE)) };
    },
    async remove() {
      await Promise.all(left);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Of all tables and indexes: a new file has no unused space. */
function textInUse(database: string): string {
  const copy = `${database}-in-use`;
  const db = new DatabaseSync(database, { readOnly: true });
  db.prepare("VACUUM INTO ?").run(copy);
  db.close();
  const text = readFileSync(copy, "latin1");
  rmSync(copy);
  return text;
}

export async function readAll(store: Store, environmentId: EnvironmentId): Promise<Omit<StoreContent, "broken">> {
  const ids: RunId[] = [];
  for (let after: RunId | null | undefined; after !== null; ) {
    const page: { runs: { id: RunId }[]; next: RunId | null } = await store.runList({
      environmentId,
      limit: PAGE,
      ...(after && { after }),
    });
    ids.push(...page.runs.map(({ id }) => id));
    after = page.next;
  }
  const runs: RunDetails[] = [];
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const page = await Promise.all(ids.slice(from, from + READ_AT_ONCE).map((id) => store.runGet({ environmentId, id })));
    runs.push(...page.filter((run) => run !== null));
  }
  const events: StoredEvent[] = [];
  for (let after = 0; ; ) {
    const page = await store.eventFollow({ environmentId, after, limit: PAGE });
    events.push(...page.events);
    if (page.events.length === 0) return { runs: runs.reverse(), events };
    after = page.reached;
  }
}
