/**
 * A proxy between a node and PostgreSQL that cuts a connection at a named point: before a statement reaches the server, or after the
 * server has executed it and before its answer reaches the node. It reads just enough of the protocol to tell statements apart:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

export interface Cut {
  /** Matched with the text of a statement and, after it, the values it is executed with. */
  statement: RegExp;
  when: "before" | "after";
  /** Only if the answer says this; of no use before. */
  answer?: RegExp;
  /** Only on a connection on which such a statement came before: a COMMIT is known by what it commits. */
  following?: RegExp;
}

export interface CuttingProxy {
  /** The database behind it. */
  url: string;
  /** Arms it for one cut; resolves when it was made, and fails if it never is. */
  cut(cut: Cut): Promise<void>;
  /** Counts the statements that come from now on. */
  count(statement: RegExp): () => number;
  /** From now on, whoever sends a statement may lose the connection over it, again and again; null: nobody any more. */
  cutBy(choose: ((statement: string) => Cut["when"] | null) | null): void;
  /** Ends every connection, and takes no other. */
  close(): void;
}

interface Armed extends Cut {
  done?(): void;
}

export async function cuttingProxy(t: TestContext, databaseUrl: string): Promise<CuttingProxy> {
  const proxy = await openCuttingProxy(databaseUrl);
  onEnd(t, () => proxy.close());
  return proxy;
}

export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: Armed | null = null;
  let choose: Parameters<CuttingProxy["cutBy"]>[0] = null;
  const counted: ((statement: string) => void)[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay());
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    join(client, upstream, {
      find(statement, before) {
        for (const count of counted) count(statement);
        if (armed && isMeant(armed, statement, before)) return armed;
        const when = choose?.(statement);
        return when ? { statement: /./, when } : null;
      },
      made(cut) {
        if (armed === cut) armed = null;
        (cut as Armed).done?.();
      },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    cut: (cut) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no statement was cut: ${cut.when} ${cut.statement}`)), MADE_WITHIN_MS);
        const done = () => {
          clearTimeout(timer);
          resolve();
        };
        armed = { ...cut, done };
      }),
    count(statement) {
      let count = 0;
      counted.push((text) => statement.test(text) && count++);
      return () => count;
    },
    cutBy: (chosen) => (choose = chosen),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function isMeant({ statement, following }: Cut, text: string, before: readonly string[]): boolean {
  return statement.test(text) && (!following || before.some((earlier) => following.test(earlier)));
}

interface Cutting {
  /** The cut that is to be made at this statement; `before` are those since the connection's last transaction began. */
  find(statement: string, before: readonly string[]): Cut | null;
  made(cut: Cut): void;
}

const READY = "Z";
const MADE_WITHIN_MS = 20_000;

function join(client: Socket, upstream: Socket, { find, made }: Cutting): void {
  const named = new Map<string, string>();
  let earlier: string[] = [];
  let statement = "";
  let held: { cut: Cut; answer: Buffer[] } | null = null;
  const end = (cut: Cut) => {
    made(cut);
    client.destroy();
    upstream.destroy();
  };

  const readClient = messages({ startsUntyped: true }, (type, body, whole) => {
    if (client.destroyed) return;
    if (type === "P") {
      const [name = "", text = ""] = body.toString("utf8").split("\0");
      named.set(name, text);
    }
    if (type === "Q" || type === "B") {
      const [, name = ""] = body.toString("utf8").split("\0");
      statement = type === "Q" ? body.toString("utf8") : `${named.get(name)}\n${body.toString("utf8")}`;
      if (/^BEGIN/.test(statement)) earlier = [];
      const cut = find(statement, earlier);
      earlier.push(statement);
      if (cut?.when === "before") return end(cut);
      if (cut) held = { cut, answer: [] };
    }
    upstream.write(whole);
  });

  const readServer = messages({ startsUntyped: false }, (type, _body, whole) => {
    if (!held) return void client.write(whole);
    held.answer.push(whole);
    if (type !== READY) return;
    const { cut, answer } = held;
    held = null;
    const bytes = Buffer.concat(answer);
    if (!cut.answer || cut.answer.test(bytes.toString("utf8"))) end(cut);
    else client.write(bytes);
  });

  client.on("data", readClient);
  upstream.on("data", readServer);
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
