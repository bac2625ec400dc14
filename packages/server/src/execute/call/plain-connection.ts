/** A connection to an app, on which plain calls are made one after the other. */

import { connect, type Socket } from "node:net";
import { ANSWER_BYTES_MAX, type NoAnswer, tooLarge, tooLate, unreachable } from "./no-answer.ts";
import { HEAD_BYTES_MAX, type PlainAnswer, parsePlainAnswer } from "./plain-answer.ts";
import type { AppAnswer } from "./read-answer.ts";
import { readStrangeAnswer, type StrangeAnswer } from "./strange-answer.ts";

export interface ConnectionTimes {
  /** How long an app may take to answer. */
  timeoutMs: number;
  connectTimeoutMs: number;
  /** How long a connection is kept without a call; shorter if the app says so. */
  keepAliveMs: number;
}

export interface PlainCall {
  text: string;
  resolve(answer: AppAnswer): void;
  reject(error: unknown): void;
}

export interface ConnectionListeners {
  /** It can be asked again. */
  onFree(): void;
  onGone(): void;
  /** An answer was not a plain one. */
  onStrange(): void;
}

/** The app may have begun to count sooner. */
const KEPT_EARLIER_MS = 1_000;
const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** All connections read into it: what has arrived is taken out before anything else is read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** An answer of which the head is there. */
interface Arriving {
  head: PlainAnswer;
  chunks: Buffer[];
  /** Of the body. */
  missing: number;
}

export class Connection {
  /** By `performance.now()`. */
  keptUntil = 0;
  readonly #times: ConnectionTimes;
  readonly #listeners: ConnectionListeners;
  readonly #socket: Socket;
  readonly #connecting: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | null = null;
  #call: PlainCall | null = null;
  /** Of a head that did not come at once. */
  #begun = NOTHING;
  #arriving: Arriving | null = null;
  #strange: StrangeAnswer | null = null;
  #lastHead: PlainAnswer | null = null;
  #isGone = false;

  constructor(times: ConnectionTimes, { hostname, port }: { hostname: string; port: number }, listeners: ConnectionListeners) {
    this.#times = times;
    this.#listeners = listeners;
    const onread = { buffer: READ_BUFFER, callback: this.#onRead };
    this.#socket = connect({ host: hostname, port, noDelay: true, onread });
    this.#connecting = setTimeout(() => this.fail(unreachable("connecting took too long")), times.connectTimeoutMs);
    this.#socket.on("connect", () => clearTimeout(this.#connecting));
    this.#socket.on("end", () => this.#end()).on("error", (error) => this.fail(error));
  }

  ask(call: PlainCall): void {
    this.#call = call;
    // Answers come in time nearly always: one timer that is set again costs less than a new one for each.
    if (this.#deadline) this.#deadline.refresh();
    else this.#deadline = setTimeout(() => this.#call && this.fail(tooLate(this.#times.timeoutMs)), this.#times.timeoutMs);
    this.#socket.write(call.text);
  }

  close(): void {
    this.fail(unreachable("the connection was closed"));
  }

  /** Nothing more comes of it. */
  fail(error: NoAnswer | Error): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#connecting);
    if (this.#deadline) clearTimeout(this.#deadline);
    this.#socket.destroy();
    this.#strange?.cut(error);
    const call = this.#call;
    this.#call = null;
    this.#listeners.onGone();
    call?.reject(error);
  }

  readonly #onRead = (bytes: number, buffer: Uint8Array): boolean => {
    const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
    if (this.#strange) this.#strange.push(Buffer.from(chunk));
    else if (this.#arriving) this.#continue(this.#arriving, chunk);
    else if (this.#call) this.#begin(this.#begun.length > 0 ? Buffer.concat([this.#begun, chunk]) : chunk);
    else this.fail(unreachable("it answered what nobody had asked"));
    return true;
  };

  #end(): void {
    if (this.#strange) this.#strange.push(null);
    else this.fail(unreachable("the connection ended before the answer did"));
  }

  /** What is kept has to be copied. */
  #begin(chunk: Buffer): void {
    const end = chunk.indexOf(HEAD_END);
    if (end < 0 && chunk.length <= HEAD_BYTES_MAX) {
      this.#begun = Buffer.from(chunk);
      return;
    }
    this.#begun = NOTHING;
    const head = end < 0 ? null : this.#head(chunk.toString("latin1", 0, end + HEAD_END.length));
    if (!head) return this.#leave(chunk);
    if (head.bodyBytes > ANSWER_BYTES_MAX) return this.fail(tooLarge());
    const body = chunk.subarray(end + HEAD_END.length);
    const missing = head.bodyBytes - body.length;
    if (missing > 0) this.#arriving = { head, chunks: [Buffer.from(body)], missing };
    else this.#finish(head, body.toString("utf8", 0, head.bodyBytes), missing === 0);
  }

  #head(text: string): PlainAnswer | null {
    return text === this.#lastHead?.text ? this.#lastHead : parsePlainAnswer(text);
  }

  #continue(arriving: Arriving, chunk: Buffer): void {
    const body = chunk.subarray(0, arriving.missing);
    arriving.chunks.push(Buffer.from(body));
    arriving.missing -= body.length;
    if (arriving.missing > 0) return;
    this.#arriving = null;
    this.#finish(arriving.head, Buffer.concat(arriving.chunks).toString(), body.length === chunk.length);
  }

  /** `isAll`: nothing came after it, as it should be. */
  #finish(head: PlainAnswer, body: string, isAll: boolean): void {
    const call = this.#call;
    const keptMs = Math.min(this.#times.keepAliveMs, head.keptMs === null ? Number.POSITIVE_INFINITY : head.keptMs - KEPT_EARLIER_MS);
    this.#call = null;
    this.#lastHead = head;
    call?.resolve({ status: head.status, headers: head.headers, body });
    // It may have answered before it was told all.
    if (!isAll || keptMs <= 0 || this.#socket.writableLength > 0) return this.close();
    this.keptUntil = performance.now() + keptMs;
    this.#listeners.onFree();
  }

  #leave(chunk: Buffer): void {
    this.#listeners.onStrange();
    this.#strange = readStrangeAnswer(Buffer.from(chunk), (answer) => {
      const call = this.#call;
      if (answer instanceof Error) return this.fail(answer);
      this.#call = null;
      call?.resolve(answer);
      this.close();
    });
  }
}
