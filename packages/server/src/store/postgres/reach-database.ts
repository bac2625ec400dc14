/**
 * Asks a database server for a sign of life, on a connection of its own: a pool whose connections all wait for a lock says nothing about
 * whether the server is there.
 */

import { Client } from "pg";
import { isConnectionLost, isOutOfConnections } from "./failures.ts";

/** A connection that breaks says little: the server may have ended this one only. */
const TRIES = 3;

export interface Reach {
  /** Rejects if there is no response within `timeoutMs`. One call at a time. */
  ask(timeoutMs: number): Promise<void>;
  stop(): void;
}

export function reachDatabase(url: string): Reach {
  return new ReachedDatabase(url);
}

class ReachedDatabase implements Reach {
  readonly #url: string;
  #client: Client | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async ask(timeoutMs: number): Promise<void> {
    const silence = { isOver: false };
    const late = () => {
      silence.isOver = true;
      this.stop();
    };
    // What has arrived in the meantime is read first: a process that stood still must not take that for silence.
    const deadline = setTimeout(() => setImmediate(late), timeoutMs);
    try {
      await this.#askAgain(timeoutMs, silence);
    } finally {
      clearTimeout(deadline);
    }
  }

  stop(): void {
    if (this.#client) this.#drop(this.#client);
  }

  async #askAgain(timeoutMs: number, silence: { isOver: boolean }): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#askOnce(timeoutMs);
      } catch (error) {
        if (silence.isOver) throw new Error(`PostgreSQL did not answer within ${timeoutMs} ms`, { cause: error });
        if (tries === TRIES || !isConnectionLost(error)) throw error;
      }
    }
  }

  async #askOnce(timeoutMs: number): Promise<void> {
    const ended = (isThere: (error: unknown) => boolean) => (error: unknown) => {
      this.stop();
      if (!isThere(error)) throw error;
    };
    const client = await this.#connected(timeoutMs).catch(ended(isOutOfConnections));
    await client?.query("SELECT 1").catch(ended(hasAnswered));
  }

  async #connected(timeoutMs: number): Promise<Client> {
    if (this.#client) return this.#client;
    const made = new Client({ connectionString: this.#url, application_name: "inlet", connectionTimeoutMillis: timeoutMs });
    this.#client = made;
    made.on("error", () => this.#drop(made));
    made.on("end", () => this.#drop(made));
    await made.connect();
    return made;
  }

  #drop(used: Client): void {
    if (this.#client === used) this.#client = null;
    // The socket is closed at once: a server that stays silent would not answer the farewell either.
    (used as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  }
}

/** A server that refuses a statement is there. One that starts or stops is not. */
function hasAnswered(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("57P") && !code.startsWith("08");
}
