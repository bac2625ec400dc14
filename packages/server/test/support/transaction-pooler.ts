/**
 * A proxy before PostgreSQL that does what PgBouncer does in transaction mode: many clients share few connections, each of which is
 * a client's for the length of a transaction only, and keeps nothing of a client's session for the next. It is stricter in two
 * ways, so that nothing works by luck: connections are handed out in turn, and emptied before they are.
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

export interface TransactionPooler {
  /** Of the same database, through the proxy. */
  url: string;
  /** Statements that clients wanted to keep under a name. */
  namedStatements: number;
  /** Most clients at the same time, and how often one was given a connection. */
  clientsMax: number;
  transactions: number;
}

interface Server {
  socket: Socket;
  client: Client | null;
  /** Answers to what the proxy itself asked are nobody's business. */
  isResetting: boolean;
  greeting: Buffer[];
}

interface Client {
  socket: Socket;
  server: Server | null;
  waiting: Buffer[];
  /** Queries and syncs that are not answered yet. */
  pending: number;
}

const [QUERY, SYNC, PARSE, TERMINATE, READY, AUTHENTICATION] = ["Q", "S", "P", "X", "Z", "R"].map((letter) => letter.charCodeAt(0));
const IDLE = "I".charCodeAt(0);
/** What DISCARD ALL does, except that plans are kept, as they are by PgBouncer: they belong to the server, not to a client. */
const EMPTY =
  "CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; DEALLOCATE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP";
const SSL_REQUEST = 80_877_103;

export async function startTransactionPooler(t: TestContext, databaseUrl: string, connections = 3): Promise<TransactionPooler> {
  const target = new URL(databaseUrl);
  const counts = { namedStatements: 0, clientsMax: 0, transactions: 0 };
  const clients = new Set<Client>();
  const queue: Client[] = [];
  const free: Server[] = [];
  const servers = await Promise.all(Array.from({ length: connections }, () => openServer(target, onServerMessage)));
  free.push(...servers);

  function onServerMessage(server: Server, message: Buffer): void {
    const isReady = message[0] === READY;
    if (server.isResetting) {
      if (!isReady) return;
      server.isResetting = false;
      free.push(server);
      return serveNext();
    }
    const { client } = server;
    if (!client) return;
    client.socket.write(message);
    if (!isReady) return;
    client.pending--;
    if (client.pending > 0 || message[5] !== IDLE) return;
    release(client, server);
  }

  function release(client: Client, server: Server): void {
    client.server = null;
    server.client = null;
    server.isResetting = true;
    server.socket.write(simpleQuery(EMPTY));
    if (client.waiting.length > 0) queue.push(client);
  }

  function serveNext(): void {
    while (free.length > 0 && queue.length > 0) {
      const [server, client] = [free.shift() as Server, queue.shift() as Client];
      if (!clients.has(client)) {
        free.push(server);
        continue;
      }
      counts.transactions++;
      server.client = client;
      client.server = server;
      for (const message of client.waiting.splice(0)) forward(client, server, message);
    }
  }

  function forward(client: Client, server: Server, message: Buffer): void {
    if (message[0] === QUERY || message[0] === SYNC) client.pending++;
    server.socket.write(message);
  }

  function onClientMessage(client: Client, message: Buffer): void {
    if (message[0] === TERMINATE) return void client.socket.end();
    if (message[0] === PARSE && message[5] !== 0) counts.namedStatements++;
    if (client.server) return forward(client, client.server, message);
    client.waiting.push(message);
    if (client.waiting.length === 1) queue.push(client);
    serveNext();
  }

  /** A client that goes in the middle of a transaction takes it along. */
  function onGone(client: Client): void {
    clients.delete(client);
    const { server } = client;
    if (!server) return;
    client.server = null;
    server.client = null;
    server.isResetting = true;
    server.socket.write(simpleQuery(`ROLLBACK; ${EMPTY}`));
  }

  const listener = createServer((socket) => {
    const client: Client = { socket, server: null, waiting: [], pending: 0 };
    clients.add(client);
    counts.clientsMax = Math.max(counts.clientsMax, clients.size);
    socket.on("error", () => {});
    socket.on("close", () => onGone(client));
    let isGreeted = false;
    const greet = (startup: Buffer) => {
      if (startup.readInt32BE(4) === SSL_REQUEST) return void socket.write("N");
      isGreeted = true;
      socket.write(Buffer.concat(servers[0]?.greeting ?? []));
    };
    readMessages(
      socket,
      () => isGreeted,
      greet,
      (message) => onClientMessage(client, message),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onEnd(t, async () => {
    for (const { socket } of [...clients, ...servers]) socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  });
  const url = new URL(databaseUrl);
  url.port = String((listener.address() as AddressInfo).port);
  return Object.defineProperties({ url: url.href } as TransactionPooler, readable(counts));
}

/** The counts as they are when they are looked at. */
function readable(counts: Record<string, number>): PropertyDescriptorMap {
  return Object.fromEntries(Object.keys(counts).map((name) => [name, { get: () => counts[name] }]));
}

async function openServer(target: URL, onMessage: (server: Server, message: Buffer) => void): Promise<Server> {
  const socket = connect(Number(target.port), target.hostname);
  await once(socket, "connect");
  const server: Server = { socket, client: null, isResetting: false, greeting: [] };
  socket.on("error", () => {});
  const pairs = ["user", target.username || "postgres", "database", target.pathname.slice(1), ""].map((text) => `${text}\0`).join("");
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + Buffer.byteLength(pairs), 0);
  head.writeInt32BE(196_608, 4);
  socket.write(Buffer.concat([head, Buffer.from(pairs)]));
  await new Promise<void>((resolve) => {
    let isOpen = false;
    readMessages(
      socket,
      () => true,
      () => {},
      (message) => {
        if (isOpen) return onMessage(server, message);
        if (message[0] === AUTHENTICATION && message.readInt32BE(5) !== 0) throw new Error("the proxy can only open servers that trust it");
        server.greeting.push(message);
        isOpen = message[0] === READY;
        if (isOpen) resolve();
      },
    );
  });
  return server;
}

/** Cuts what arrives into messages. The first of a client has no letter before its length. */
function readMessages(socket: Socket, isGreeted: () => boolean, greet: (startup: Buffer) => void, take: (message: Buffer) => void): void {
  // Messages are small and passed on one by one: none is to wait for the next.
  socket.setNoDelay(true);
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const offset = isGreeted() ? 1 : 0;
      if (rest.length < offset + 4) return;
      const length = offset + rest.readInt32BE(offset);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      if (offset === 1) take(message);
      else greet(message);
    }
  });
}

function simpleQuery(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.write("Q", 0);
  head.writeInt32BE(4 + Buffer.byteLength(text) + 1, 1);
  return Buffer.concat([head, Buffer.from(`${text}\0`)]);
}
