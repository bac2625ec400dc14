/**
 * Collects one response: status, headers and body, within a limit of bytes and time. Undici calls it for every chunk as it
 * arrives, so no stream is created for a body that is needed as a whole.
 */

import type { Dispatcher } from "undici";
import { givenUp, type Peer, RESPONSE_BYTES_MAX, tooLarge, tooLate } from "./no-response.ts";
import type { AppResponse } from "./read-response.ts";

export interface Settle {
  resolve(answer: AppResponse): void;
  reject(error: unknown): void;
}

export interface CollectorOptions {
  peer: Peer;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  maySend?: (() => boolean) | undefined;
  bytesMax?: number | undefined;
}

export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #settle: Settle;
  readonly #peer: Peer;
  readonly #timeoutMs: number;
  readonly #bytesMax: number;
  #status = 0;
  #headers: AppResponse["headers"] = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #deadline: NodeJS.Timeout | null = null;

  readonly #signal: AbortSignal | undefined;
  readonly #maySend: (() => boolean) | undefined;
  #stopListening: () => void = () => undefined;

  constructor(settle: Settle, { peer, timeoutMs, signal, maySend, bytesMax = RESPONSE_BYTES_MAX }: CollectorOptions) {
    this.#settle = settle;
    this.#peer = peer;
    this.#bytesMax = bytesMax;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#maySend = maySend;
  }

  /** Nothing runs between this and the sending. A call that was waiting for a connection may have been abandoned. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const signal = this.#signal;
    const abort = () => controller.abort(givenUp());
    if (signal?.aborted || this.#maySend?.() === false) return abort();
    if (!signal) return;
    signal.addEventListener("abort", abort);
    this.#stopListening = () => signal.removeEventListener("abort", abort);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AppResponse["headers"]): void {
    // Informational: the actual response follows.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    // Undici limits only the time between two chunks. A body that arrives slowly without end must time out too.
    this.#deadline = setTimeout(() => controller.abort(tooLate(this.#peer, this.#timeoutMs)), this.#timeoutMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#bytesMax) this.#chunks.push(chunk);
    else controller.abort(tooLarge(this.#peer, this.#bytesMax));
  }

  onResponseEnd(): void {
    this.#release();
    this.#settle.resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks).toString() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#release();
    this.#settle.reject(error);
  }

  #release(): void {
    this.#stopListening();
    if (this.#deadline) clearTimeout(this.#deadline);
  }
}
