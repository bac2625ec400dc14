/**
 * Asks a database server for a sign of life, on a connection of its own: a pool whose connections all wait for a lock says nothing about
 * whether the server is there.
 */

import { Client } from "pg";

export interface Reach {
  /** Rejects if there is no answer within `timeoutMs`. One call at a time. */
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

  return {
    async ask(timeoutMs) {
      let isLate = false;
      // What has arrived in the meantime is read first: a process that stood still must not take that for silence.
      const deadline = setTimeout(
        () =>
          setImmediate(() => {
            isLate = true;
            if (client) drop(client);
          }),
        timeoutMs,
      );
      try {
        await (await connected(timeoutMs)).query("SELECT 1");
      } catch (error) {
        if (client) drop(client);
        if (!isLate && hasAnswered(error)) return;
        throw isLate ? new Error(`PostgreSQL did not answer within ${timeoutMs} ms`, { cause: error }) : error;
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
