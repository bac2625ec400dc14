/**
 * Calls of an app that answers plainly (see plain-answer.ts), without encryption: written to the connection and read from it as they are. An
 * HTTP client makes objects, streams and timers for each call, which cost as much as all the rest of it, a sixth of a run.
 *
 * An answer that is not plain after all is read by Node's HTTP parser, from where it began.
 */

import { NoAnswer } from "./no-answer.ts";
import { Connection, type ConnectionTimes, type PlainCall } from "./plain-connection.ts";
import type { AppAnswer } from "./read-answer.ts";

export interface PlainCallsOptions extends ConnectionTimes {
  connectionsMax: number;
}

export interface PlainAddress {
  hostname: string;
  port: number;
}

const SWEEP_MS = 1_000;

/** The connections to one address. */
export class PlainCalls {
  readonly #options: PlainCallsOptions;
  readonly #address: PlainAddress;
  readonly #open = new Set<Connection>();
  /** Those without a call, the one used last at the end. */
  #idle: Connection[] = [];
  readonly #waiting: PlainCall[] = [];
  #sweeping: NodeJS.Timeout | null = null;
  #isPlain = true;
  #isStopped = false;

  constructor(options: PlainCallsOptions, address: PlainAddress) {
    this.#options = options;
    this.#address = address;
  }

  /** `text` is the whole request as it goes over the wire. */
  call(text: string): Promise<AppAnswer> {
    return new Promise((resolve, reject) => {
      const call = { text, resolve, reject };
      if (this.#isStopped) return reject(stopped());
      const connection = this.#idleOne() ?? this.#connect();
      if (connection) connection.ask(call);
      else this.#waiting.push(call);
    });
  }

  /** False once an answer was not a plain one: it was read all the same, but others are better asked for in another way. */
  get isPlain(): boolean {
    return this.#isPlain;
  }

  get isUnused(): boolean {
    return this.#open.size === 0;
  }

  /** Calls under way fail. */
  stop(): void {
    this.#isStopped = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopped());
    for (const connection of [...this.#open]) connection.fail(stopped());
  }

  #idleOne(): Connection | null {
    const now = performance.now();
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.keptUntil > now) return connection;
      connection.close();
    }
    return null;
  }

  #connect(): Connection | null {
    if (this.#isStopped || this.#open.size >= this.#options.connectionsMax) return null;
    const connection = new Connection(this.#options, this.#address, {
      onFree: () => this.#reuse(connection),
      onGone: () => this.#forget(connection),
      onStrange: () => (this.#isPlain = false),
    });
    this.#open.add(connection);
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    return connection;
  }

  #reuse(connection: Connection): void {
    const call = this.#waiting.shift();
    if (call) connection.ask(call);
    else this.#idle.push(connection);
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    this.#idle = this.#idle.filter((other) => other !== connection);
    if (this.#waiting.length > 0) this.#connect()?.ask(this.#waiting.shift() as PlainCall);
    if (this.#open.size > 0 || !this.#sweeping) return;
    clearInterval(this.#sweeping);
    this.#sweeping = null;
  }

  #sweep(): void {
    const now = performance.now();
    for (const connection of this.#idle.filter(({ keptUntil }) => keptUntil <= now)) connection.close();
  }
}

function stopped(): NoAnswer {
  return new NoAnswer("The call was ended: the service stops.");
}
