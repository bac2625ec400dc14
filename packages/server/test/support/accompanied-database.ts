/** A database whose statements a test accompanies: it does something before them, or loses their responses. */

import type { Database } from "../../src/store/postgres/database.ts";

/** `text`: of the statement; null: a transaction of several. */
export type Accompany = (text: string | null, work: () => Promise<unknown>) => Promise<unknown>;

export function accompanied(database: Database, accompany: Accompany): Database {
  return new Proxy(database, {
    get(target, name: keyof Database) {
      const member = target[name];
      if (typeof member !== "function") return member;
      const call = (...args: unknown[]) => (member as (...all: unknown[]) => Promise<unknown>).apply(target, args);
      if (name === "query") return (...args: unknown[]) => accompany(args[0] as string, () => call(...args));
      if (name === "transaction") return (...args: unknown[]) => accompany(null, () => call(...args));
      return call;
    },
  });
}
