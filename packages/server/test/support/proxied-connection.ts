/** One connection through the cutting proxy: tells its statements and their answers apart, and cuts or holds it at a point. */

import type { Socket } from "node:net";

export interface Cut {
  /** Matched with the text of a statement and, after it, the values it is executed with. */
  statement: RegExp;
  when: "before" | "after";
  /** Only if the response says this; of no use before. */
  answer?: RegExp;
  /** Only on a connection on which such a statement came before: a COMMIT is known by what it commits. */
  following?: RegExp;
}

export interface Armed extends Cut {
  action: "cut" | "hold";
  done?(): void;
}

const READY = "Z";

interface Points {
  /** The point at which this statement is; `before` are those since the connection's last transaction began. */
  find(statement: string, before: readonly string[]): Armed | null;
  made(point: Armed): void;
  /** The size of a statement's whole answer. */
  answered(bytes: number): void;
}

export class ProxiedConnection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #points: Points;
  readonly #named = new Map<string, string>();
  #earlier: string[] = [];
  /** The point of the statement that is being sent. */
  #point: Armed | null = null;
  /** One for each response that is outstanding: statements are sent without waiting for earlier answers. */
  readonly #pending: (Armed | null)[] = [];
  #answer: Buffer[] = [];
  #responseBytes = 0;
  #isHeld = false;
  onClose = () => {};

  constructor(client: Socket, upstream: Socket, points: Points) {
    this.#client = client;
    this.#upstream = upstream;
    this.#points = points;
    for (const socket of [client, upstream]) {
      socket.setNoDelay().on("error", () => {});
      socket.on("close", () => !this.#isHeld && this.end());
    }
    const fromClient = messages({ startsUntyped: true }, (type, body, whole) => this.#fromClient(type, body, whole));
    const fromServer = messages({ startsUntyped: false }, (type, _body, whole) => this.#fromServer(type, whole));
    client.on("data", inOneWrite(upstream, fromClient));
    upstream.on("data", inOneWrite(client, fromServer));
  }

  end(): void {
    this.#client.destroy();
    this.#upstream.destroy();
    this.onClose();
  }

  hold(): void {
    this.#isHeld = true;
  }

  #fromClient(type: string, body: Buffer, whole: Buffer): void {
    if (this.#client.destroyed || this.#isHeld) return;
    if (type === "P") {
      const [name = "", text = ""] = body.toString("utf8").split("\0");
      this.#named.set(name, text);
    }
    if (type === "Q" || type === "B") {
      const point = this.#find(type, body.toString("utf8"));
      if (point?.when === "before") return this.#make(point);
      this.#point = point;
    }
    if (type === "Q" || type === "S") {
      this.#pending.push(this.#point);
      this.#point = null;
    }
    this.#upstream.write(whole);
  }

  #find(type: "Q" | "B", body: string): Armed | null {
    const statement = type === "Q" ? body : `${this.#named.get(body.split("\0")[1] ?? "")}\n${body}`;
    if (/^BEGIN/.test(statement)) this.#earlier = [];
    const point = this.#points.find(statement, this.#earlier);
    this.#earlier.push(statement);
    return point;
  }

  #fromServer(type: string, whole: Buffer): void {
    if (this.#isHeld) return;
    const [point] = this.#pending;
    if (point) this.#answer.push(whole);
    else this.#client.write(whole);
    this.#responseBytes += whole.length;
    if (type !== READY) return;
    this.#points.answered(this.#responseBytes);
    this.#responseBytes = 0;
    this.#pending.shift();
    if (!point) return;
    const bytes = Buffer.concat(this.#answer.splice(0));
    if (!point.answer || point.answer.test(bytes.toString("utf8"))) this.#make(point);
    else this.#client.write(bytes);
  }

  #make(point: Armed): void {
    // What came before the point is passed on.
    for (const socket of [this.#client, this.#upstream]) socket.uncork();
    if (point.action === "hold") this.hold();
    else this.end();
    this.#points.made(point);
  }
}

/** The messages of a chunk are passed on together: a statement has five, and one write for each would cost more than what is done with them. */
function inOneWrite(target: Socket, take: (chunk: Buffer) => void): (chunk: Buffer) => void {
  return (chunk) => {
    target.cork();
    take(chunk);
    target.uncork();
  };
}

type OnMessage = (type: string, body: Buffer, whole: Buffer) => void;

/** Takes a stream of bytes apart into messages. The first one of a client has a length and no type. */
function messages({ startsUntyped }: { startsUntyped: boolean }, onMessage: OnMessage): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = startsUntyped ? 0 : 1;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return;
      const whole = rest.subarray(0, length);
      rest = rest.subarray(length);
      const type = typeBytes === 0 ? "" : String.fromCharCode(whole[0] as number);
      const body = whole.subarray(typeBytes + 4);
      typeBytes = 1;
      onMessage(type, body, whole);
    }
  };
}
