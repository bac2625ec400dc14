/**
 * A response of server-sent events, and the only owner of everything that lives as long as it: its heartbeat, its listeners and the
 * response itself. Whatever ends it (the client, the service, a fault) ends all of them together, and nothing is written afterwards.
 */

import type { ServerResponse } from "node:http";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Proxies such as nginx would otherwise buffer the stream.
  "x-accel-buffering": "no",
  connection: "close",
};
const HEARTBEAT_MS = 15_000;
/** How long the client may take to read the rest of a stream that has ended. */
const CUT_AFTER_MS = 1_000;

export interface StreamResponseOptions {
  /** Sent first. */
  opening?: string;
  headers?: Readonly<Record<string, string>>;
  heartbeatMs?: number | undefined;
}

const streams = new WeakMap<ServerResponse, StreamResponse>();

export class StreamResponse {
  readonly #response: ServerResponse;
  readonly #endListeners = new Set<() => void>();
  #heartbeat: NodeJS.Timeout | null = null;
  #isEnded = false;

  constructor(response: ServerResponse, { opening = "", headers = {}, heartbeatMs = HEARTBEAT_MS }: StreamResponseOptions = {}) {
    this.#response = response;
    streams.set(response, this);
    response.on("error", () => response.destroy());
    response.on("close", () => this.#release());
    // The server lets clients half-close their connection and still responds (http-server.ts). Who follows a stream does so only to leave.
    response.socket?.on("end", () => response.destroy());
    if (response.socket?.readableEnded) response.destroy();
    // The client may have disconnected before: then `close` was emitted already.
    if (response.destroyed) {
      this.#release();
      return;
    }
    response.writeHead(200, { ...STREAM_HEADERS, ...headers });
    // Node sends the headers of a response without a body when it ends.
    if (response.req.method === "HEAD") {
      this.end();
      return;
    }
    response.write(`: connected\n${opening}\n`);
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** How many bytes the client has not read yet. */
  get waitingBytes(): number {
    return this.#response.writableLength;
  }

  /** False if the client lags behind: see `caughtUp`. No effect once the stream has ended. */
  write(text: string): boolean {
    return this.#isEnded || this.#response.write(text);
  }

  /** Waits until the client has read what was written, or the stream has ended: the server disconnects clients that do not read. */
  caughtUp(): Promise<void> {
    if (this.#isEnded || !this.#response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#response.off("drain", done);
        this.#endListeners.delete(done);
        resolve();
      };
      this.#response.on("drain", done);
      this.onEnd(done);
    });
  }

  /** Calls `listener` once, when the stream ends; at once if it has ended. */
  onEnd(listener: () => void): void {
    if (this.#isEnded) listener();
    else this.#endListeners.add(listener);
  }

  /** Sends a last text. A client that does not read it within a second is disconnected. */
  end(last = ""): void {
    if (this.#isEnded) return;
    this.#release();
    const response = this.#response;
    response.end(last);
    const cut = setTimeout(() => response.destroy(), CUT_AFTER_MS);
    response.on("close", () => clearTimeout(cut));
  }

  #beat(): void {
    // Unread data shows a client that the connection works; more would only wait with it.
    if (this.waitingBytes === 0) this.write(": still here\n\n");
  }

  #release(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    for (const listener of this.#endListeners) listener();
    this.#endListeners.clear();
  }
}

/** Ends the stream that this response carries. False if it carries none. */
export function endStream(response: ServerResponse): boolean {
  const stream = streams.get(response);
  stream?.end();
  return stream !== undefined;
}
