/**
 * Asks a database server for a sign of life, on a connection of its own: a pool whose connections all wait for a lock says nothing about
 * whether the server is there.
 */

import { Client } from "pg";
import { isConnectionLost } from "./failures.ts";

/** A connection that breaks says little: the server may have ended this one only. */
const TRIES = 3;

export interface Reach {
  /** Rejects if there is no response within `timeoutMs`. One call at a time. */
  ask(timeoutMs: number): Promise<void>;
  stop(): void;
}

export function reachDatabase(url: string): Reach {
  let client: Client | null = null;

  function drop(used: Client): void {
    if (client === used) client = null;
    // The socket is closed at once: a server that stays silent would not answer the farewell either.
    (used as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }

  async function connected(timeoutMs: number): Promise<Client> {
    if (client) return client;
    const made = new Client({ connectionString: url, application_name: "inlet", connectionTimeoutMillis: timeoutMs });
    client = made;
    made.on("error", () => drop(made));
    made.on("end", () => drop(made));
    await made.connect();
    return made;
  }

  async function askOnce(timeoutMs: number): Promise<void> {
    try {
      await (await connected(timeoutMs)).query("SELECT 1");
    } catch (error) {
      if (client) drop(client);
      if (!hasAnswered(error)) throw error;
    }
  }

  return {
    async ask(timeoutMs) {
      let isLate = false;
      // What has arrived in the meantime is read first: a process that stood still must not take that for silence.
      const late = () => {
        isLate = true;
        if (client) drop(client);
      };
      const deadline = setTimeout(() => setImmediate(late), timeoutMs);
      try {
        for (let tries = 1; ; tries++) {
          try {
            return await askOnce(timeoutMs);
          } catch (error) {
            if (isLate) throw new Error(`PostgreSQL did not answer within ${timeoutMs} ms`, { cause: error });
            if (tries === TRIES || !isConnectionLost(error)) throw error;
          }
        }
      } finally {
        clearTimeout(deadline);
      }
    },
    stop() {
      if (client) drop(client);
    },
  };
}

/** A server that refuses one more connection is there. One that starts or stops is not. */
function hasAnswered(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("57P") && !code.startsWith("08");
}
