/**
 * A proxy between a node and PostgreSQL that cuts or holds a connection at a named point: before a statement reaches the server, or after
 * the server has executed it and before its response reaches the node. A connection that is held stays open on both sides, and nothing
 * passes any more, as if the network or the machine of the node were gone. It reads just enough of the protocol to tell statements
 * apart: https://www.postgresql.org/docs/current/protocol-message-formats.html
 */

import { connect, createServer } from "node:net";
import type { TestContext } from "node:test";
import { onEnd } from "./on-end.ts";
import { type Armed, type Cut, ProxiedConnection } from "./proxied-connection.ts";

export type { Cut };

/** On either side of a statement, by what to call each. */
export function cutsAt(point: string, statement: RegExp): [string, Cut][] {
  return [
    [`before ${point} arrives`, { statement, when: "before" }],
    [`after ${point}, before its response`, { statement, when: "after" }],
  ];
}

/** On either side of the COMMIT that follows a statement. */
export function cutsAtCommitAfter(point: string, statement: RegExp): [string, Cut][] {
  return [
    [`before COMMIT arrives, after ${point}`, { statement: /^COMMIT/, when: "before", following: statement }],
    [`after COMMIT, before its response, after ${point}`, { statement: /^COMMIT/, when: "after", following: statement }],
  ];
}

/** A group of events that has the label of an event of these tests. */
export const EVENT_WRITTEN = /append_events[\s\S]*label/;

/** Where the transaction that accepts an event and begins its run can be cut. */
export const CUTS_OF_ACCEPTING: readonly [string, Cut][] = [
  ...cutsAt("the name is added", /INSERT INTO event_names/),
  ...cutsAt("the lock of the name", /take_locks/),
  ...cutsAt("the write of the event", EVENT_WRITTEN),
  ...cutsAt("the write of the run", /INSERT INTO runs/),
  ...cutsAt("the write of its entry", /INSERT INTO queue/),
  ...cutsAtCommitAfter("the write of the event", EVENT_WRITTEN),
];

export interface CuttingProxy {
  /** The database behind it. */
  url: string;
  /** Arms it for one cut; resolves when it was made, and fails if it never is. */
  cut(cut: Cut): Promise<void>;
  /** The same, but the connection is held. */
  hold(cut: Cut): Promise<void>;
  /** Holds every connection on which such a statement comes from now on, before it reaches the server. Returns how many were held. */
  holdEach(statement: RegExp): () => number;
  /** Holds every connection that exists. New ones pass. */
  holdAll(): void;
  /** Ends every connection that exists, also one that is held. New ones pass. */
  endAll(): void;
  /** Counts the statements that come from now on. */
  count(statement: RegExp): () => number;
  /** The sizes, in bytes, of the responses to the statements that come from now on. */
  measure(): () => readonly number[];
  /** From now on, whoever sends a statement may lose the connection over it, again and again; null: nobody any more. */
  cutBy(choose: ((statement: string) => Cut["when"] | null) | null): void;
  /** Ends every connection, and takes no other. */
  close(): void;
}

const MADE_WITHIN_MS = 60_000;

export async function cuttingProxy(t: TestContext, databaseUrl: string): Promise<CuttingProxy> {
  const proxy = await openCuttingProxy(databaseUrl);
  onEnd(t, () => proxy.close());
  return proxy;
}

export async function openCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const connections = new Set<ProxiedConnection>();
  const counted: ((statement: string) => void)[] = [];
  const measured: number[][] = [];
  let armed: Armed | null = null;
  let choose: Parameters<CuttingProxy["cutBy"]>[0] = null;
  let heldEach: Armed | null = null;
  const find = (statement: string, before: readonly string[]) => {
    for (const count of counted) count(statement);
    if (armed && isMeant(armed, statement, before)) return armed;
    if (heldEach?.statement.test(statement)) return heldEach;
    const when = choose?.(statement);
    return when ? { statement: /./, when, action: "cut" as const } : null;
  };
  const made = (point: Armed) => {
    if (armed === point) armed = null;
    point.done?.();
  };
  const answered = (bytes: number) => {
    for (const sizes of measured) sizes.push(bytes);
  };
  const server = createServer((client) => {
    const connection = new ProxiedConnection(client, connect(Number(target.port), target.hostname), { find, made, answered });
    connections.add(connection);
    connection.onClose = () => connections.delete(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as { port: number }).port);
  const arm = (action: Armed["action"], cut: Cut) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no statement came for a ${action}: ${cut.when} ${cut.statement}`)), MADE_WITHIN_MS);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      armed = { ...cut, action, done };
    });
  const endAll = () => {
    for (const connection of connections) connection.end();
  };
  return {
    url: url.href,
    cut: (cut) => arm("cut", cut),
    hold: (cut) => arm("hold", cut),
    holdEach(statement) {
      let count = 0;
      heldEach = { statement, when: "before", action: "hold", done: () => count++ };
      return () => count;
    },
    holdAll() {
      for (const connection of connections) connection.hold();
    },
    endAll,
    count(statement) {
      let count = 0;
      counted.push((text) => statement.test(text) && count++);
      return () => count;
    },
    measure() {
      const sizes: number[] = [];
      measured.push(sizes);
      return () => sizes;
    },
    cutBy: (chosen) => (choose = chosen),
    close() {
      server.close();
      endAll();
    },
  };
}

function isMeant({ statement: meant, following }: Cut, statement: string, before: readonly string[]): boolean {
  return meant.test(statement) && (!following || before.some((earlier) => following.test(earlier)));
}
