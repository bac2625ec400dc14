/**
 * Connections as they are accepted. As long as plain requests to `/e/…` come in on one (see plain-head.ts), one after the other, they are
 * read and answered right here: most of what an event costs in Node's HTTP server are the objects, streams and timers it makes for
 * each request, about as much as all the rest of accepting it. With the first bytes that are anything else, a connection is passed on to that
 * server, and stays there.
 */

import type { Socket } from "node:net";
import type { BodyShare } from "./body-budget.ts";
import type { ClientIp } from "./client-ip.ts";
import { answerTo, type HttpAnswer, refusedAnswer } from "./http-answer.ts";
import type { HttpEdgeParts } from "./http-edge.ts";
import type { Body, InboundRequest } from "./inbound-request.ts";
import { type PlainHead, readPlainHead } from "./plain-head.ts";
import { declaredTooLarge, overloaded } from "./read-body.ts";
import { keyTextOf, queryOf } from "./target.ts";

export interface ConnectionTimes {
  /** A client must deliver its whole request within this time. */
  requestMs: number;
  /** How long a connection is kept for the next request. */
  keepAliveMs: number;
}

export interface PlainConnectionsParts extends HttpEdgeParts {
  times: ConnectionTimes;
}

/** Larger bodies are Node's affair: it may refuse them before they are read. */
const BODY_BYTES_MAX = 64 * 1024;
/** A client that uses a connection in the last moment it was promised finds it open. */
const KEEP_ALIVE_GRACE_MS = 1_000;
// Not imported: see http-server.ts.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Takes the connection as if nothing had been read from it. */
export type PassOn = (socket: Socket) => void;

export class PlainConnections {
  readonly #parts: PlainConnectionsParts;
  readonly #open = new Set<PlainConnection>();

  constructor(parts: PlainConnectionsParts) {
    this.#parts = parts;
  }

  take(socket: Socket, passOn: PassOn): void {
    this.#open.add(new PlainConnection(this.#parts, socket, passOn, (gone) => this.#open.delete(gone)));
  }

  closeIdle(): void {
    for (const connection of this.#open) connection.closeIfIdle();
  }

  closeAll(): void {
    for (const connection of this.#open) connection.close();
  }
}

/** A request of which the head is there. */
interface Arriving {
  head: PlainHead;
  share: BodyShare;
  chunks: Buffer[];
  /** Of the body. */
  missing: number;
  deadline: NodeJS.Timeout;
}

class PlainConnection {
  readonly #parts: PlainConnectionsParts;
  readonly #socket: Socket;
  readonly #passOn: PassOn;
  readonly #onGone: (connection: PlainConnection) => void;
  #lastHead: PlainHead | null = null;
  #arriving: Arriving | null = null;
  #isServing = false;
  /** Came before its turn. Nothing more is read then, so that the client's end is not seen before it. */
  #early: Buffer | null = null;
  /** The client will send nothing more. */
  #hasEnded = false;

  constructor(parts: PlainConnectionsParts, socket: Socket, passOn: PassOn, onGone: (connection: PlainConnection) => void) {
    this.#parts = parts;
    this.#socket = socket;
    this.#passOn = passOn;
    this.#onGone = onGone;
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
    socket.on("error", this.#onError).on("timeout", this.#onTimeout);
    socket.setTimeout(parts.times.keepAliveMs + KEEP_ALIVE_GRACE_MS);
  }

  /** Also not while its last answer is on its way. */
  closeIfIdle(): void {
    if (this.#isIdle && this.#socket.writableLength === 0) this.close();
  }

  close(): void {
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#isServing) this.#keepForLater(chunk);
    else if (this.#arriving) this.#continue(this.#arriving, chunk);
    else this.#begin(chunk);
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    if (!this.#isServing) this.#socket.end();
  };

  readonly #onClose = (): void => {
    this.#onGone(this);
    if (this.#arriving) this.#arrived(this.#arriving).share.release();
  };

  /** It is followed by `close`. */
  readonly #onError = (): void => {};

  readonly #onTimeout = (): void => {
    if (this.#isIdle) this.close();
  };

  get #isIdle(): boolean {
    return !this.#isServing && !this.#arriving;
  }

  #begin(chunk: Buffer): void {
    const { budget, times } = this.#parts;
    const head = readPlainHead(chunk, this.#lastHead);
    const missing = head ? head.text.length + head.bodyBytes - chunk.length : 0;
    if (!head || head.bodyBytes > BODY_BYTES_MAX || missing < 0) return this.#leave(chunk);
    const share = budget.enter();
    if (!share?.take(head.bodyBytes)) {
      share?.release();
      return missing > 0 ? this.#leave(chunk) : this.#write(refusedAnswer(overloaded()));
    }
    this.#lastHead = head;
    const body = chunk.subarray(head.text.length);
    if (missing === 0) return void this.#serve(head, body, share);
    const arriving: Arriving = {
      head,
      share,
      chunks: [body],
      missing,
      deadline: setTimeout(() => this.#giveUp(arriving), times.requestMs),
    };
    this.#arriving = arriving;
  }

  #continue(arriving: Arriving, chunk: Buffer): void {
    const body = chunk.subarray(0, arriving.missing);
    arriving.chunks.push(body);
    arriving.missing -= body.length;
    if (arriving.missing > 0) return;
    if (body.length < chunk.length) this.#keepForLater(chunk.subarray(body.length));
    const { head, chunks, share } = this.#arrived(arriving);
    void this.#serve(head, Buffer.concat(chunks), share);
  }

  #arrived(arriving: Arriving): Arriving {
    clearTimeout(arriving.deadline);
    this.#arriving = null;
    return arriving;
  }

  /** What comes of it now comes too late. */
  #giveUp(arriving: Arriving): void {
    this.#arrived(arriving).share.release();
    this.#socket.off("data", this.#onData).resume();
    this.#socket.end("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", () => this.close());
  }

  async #serve(head: PlainHead, body: Buffer, share: BodyShare): Promise<void> {
    this.#isServing = true;
    const answer = await answerTo(this.#parts, new PlainRequest(head, body, this.#socket, this.#parts.clientIp));
    share.release();
    this.#isServing = false;
    if (answer && !this.#socket.destroyed) this.#write(answer);
    if (this.#early && !this.#socket.writableEnded) this.#readEarly(this.#early);
  }

  #write({ status, headers, body }: HttpAnswer): void {
    const { isDraining, times } = this.#parts;
    const isLast = isDraining() || (this.#hasEnded && !this.#early);
    let text = status === 200 ? "HTTP/1.1 200 OK\r\n" : `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
    text += `Date: ${httpDate()}\r\n`;
    text += isLast ? "Connection: close\r\n" : `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(times.keepAliveMs / 1_000)}\r\n`;
    text += `\r\n${body}`;
    if (isLast) this.#socket.end(text);
    else if (!this.#socket.write(text, status === 200 ? "latin1" : "utf8")) this.#waitUntilRead();
  }

  /** A client that sends and sends, and does not read the answers, is not listened to. */
  #waitUntilRead(): void {
    this.#socket.pause();
    this.#socket.once("drain", () => this.#socket.resume());
  }

  #keepForLater(chunk: Buffer): void {
    this.#early = this.#early ? Buffer.concat([this.#early, chunk]) : chunk;
    this.#socket.pause();
  }

  #readEarly(chunk: Buffer): void {
    this.#early = null;
    this.#socket.resume();
    this.#begin(chunk);
  }

  #leave(chunk: Buffer): void {
    const socket = this.#socket;
    if (this.#hasEnded) return this.close();
    this.#onGone(this);
    socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    socket.off("error", this.#onError).off("timeout", this.#onTimeout);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(chunk);
    this.#passOn(socket);
    socket.resume();
  }
}

class PlainRequest implements InboundRequest {
  readonly keyText: string;
  readonly query: string;
  readonly headers: Record<string, string>;
  readonly rawHeaders: readonly string[];
  readonly #body: Buffer;
  readonly #socket: Socket;
  readonly #clientIp: ClientIp;

  constructor({ target, headers, rawHeaders }: PlainHead, body: Buffer, socket: Socket, clientIp: ClientIp) {
    this.keyText = keyTextOf(target);
    this.query = queryOf(target);
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.#body = body;
    this.#socket = socket;
    this.#clientIp = clientIp;
  }

  get ip(): string {
    return this.#clientIp({ socket: this.#socket, headers: this.headers });
  }

  readBody(bytesMax: number): Body {
    return this.#body.length > bytesMax ? declaredTooLarge(bytesMax, this.#body.length) : this.#body;
  }
}

let dateSecond = 0;
let dateText = "";

/** Now, as HTTP writes it. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1_000).toUTCString();
  }
  return dateText;
}
