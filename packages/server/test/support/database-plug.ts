/** A TCP proxy in front of a database, which a test pulls: then connections end and none is taken, or everything stays silent. */

import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";

export interface DatabasePlug {
  /** The database behind it. */
  url: string;
  /** Ends every connection, and takes no other. */
  pull(): Promise<void>;
  /** Connections stay open, and new ones are taken: nothing passes. */
  silence(): void;
  /** Everything passes. Connections that stayed silent have ended. */
  restore(): Promise<void>;
}

export async function databasePlug(t: TestContext, databaseUrl: string): Promise<DatabasePlug> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const end = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => isSilent || to.write(bytes));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await listen(server, 0);
  const { port } = server.address() as { port: number };
  const url = new URL(databaseUrl);
  url.port = String(port);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      end();
    });
  onEnd(t, () => (server.listening ? close() : undefined));
  return {
    url: url.href,
    pull: close,
    silence() {
      isSilent = true;
    },
    async restore() {
      isSilent = false;
      end();
      if (!server.listening) await listen(server, port);
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
}
