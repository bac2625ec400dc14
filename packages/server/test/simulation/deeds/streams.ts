/**
 * Messages that are published on a channel, and a follower that connects to one node after the other, each time with the number of the last
 * message that it got. Messages are published in pairs, on two nodes at once if there are as many. The first message is published until it arrives: from then on, the follower can name one.
 */

import { publish } from "../../../src/api/realtime/publish-messages.ts";
import type { Connection } from "../../../src/api/realtime/subscribers.ts";
import type { StreamNote } from "../journal-notes.ts";
import type { Operated } from "../process.ts";
import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimStream } from "./deeds.ts";
import { type DeedParts, RESEND_MS, SPAN_MS } from "./doing.ts";

const TOPIC = "progress";
const PAIRS_MAX = 20;
const LOOK_MS = 50;
/** A message that has not arrived by then never will. */
const ARRIVAL_MS = 120_000;

export function generateStreams(random: Random): SimStream[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, (_, index) => ({
    atMs: random.int(1, SPAN_MS / 2),
    channel: `channel ${index}`,
    pairs: Array.from({ length: random.int(1, PAIRS_MAX) }, () => random.pick([0, 0, 1, 50, 2_000])),
    connections: Array.from({ length: 4 }, () => ({ forMs: random.pick([1, 20, 300, 10_000]), awayMs: random.pick([1, 1, 1, 45_000]) })),
  }));
}

export async function streamMessages(parts: DeedParts, { channel, pairs, connections }: SimStream): Promise<void> {
  const note = parts.journal.noteStream(channel);
  const state = { isOver: false, isLast: false };
  const following = follow(parts, note, connections, state);
  const arrived = () => note.received.length > 0;
  for (note.published.push(unpublished(0)); !arrived(); await pass(RESEND_MS)) await offer(parts, note, 0);
  for (const afterMs of pairs) {
    await pass(afterMs);
    await Promise.all([publishNext(parts, note), publishNext(parts, note)]);
  }
  // However slow a node is, a connection that lasts gets everything that is kept.
  state.isLast = true;
  const isMissing = () => note.published.slice(-2).some(({ no }) => !note.received.some((one) => one.no === no));
  for (const until = now() + ARRIVAL_MS; isMissing() && now() < until; ) await pass(LOOK_MS);
  state.isOver = true;
  await following;
}

async function publishNext(parts: DeedParts, note: StreamNote): Promise<void> {
  const no = note.published.length;
  note.published.push(unpublished(no));
  while (!(await offer(parts, note, no))) await pass(RESEND_MS);
}

function unpublished(no: number): StreamNote["published"][number] {
  return { no, askedAt: now(), tries: 0, isStored: false };
}

/** Once. False: what became of it is not known. */
async function offer(parts: DeedParts, { channel, published }: StreamNote, no: number): Promise<boolean> {
  const message = published[no] as StreamNote["published"][number];
  message.tries++;
  const send = ({ store, environment }: Operated) =>
    publish({ store, environmentUuid: String, disk: null, now }, { environment, channel, topics: [TOPIC], runId: null }, String(no));
  const isDone = await parts
    .nextNode()
    .operate(send)
    .then(() => true)
    .catch(() => false);
  message.isStored ||= isDone;
  return isDone;
}

async function follow(
  parts: DeedParts,
  note: StreamNote,
  connections: SimStream["connections"],
  state: { readonly isOver: boolean; readonly isLast: boolean },
): Promise<void> {
  for (let count = 0; !state.isOver; count++) {
    const connection = new Follower(note);
    const node = parts.nextNode();
    const connected = await node.operate((at) => connect(at, connection, note)).catch(() => null);
    const { forMs, awayMs } = connections[count % connections.length] as SimStream["connections"][number];
    const until = now() + forMs;
    const isUp = () => connected && !connection.isCut && !connected.isDead() && !state.isOver;
    while (isUp() && (state.isLast || now() < until)) await pass(LOOK_MS);
    connection.isCut = true;
    if (connected && !connected.isDead()) connected.subscribers.remove(connection);
    await pass(!connected ? RESEND_MS : state.isLast ? 1 : awayMs);
  }
}

async function connect({ subscribers, environment, isDead }: Operated, connection: Connection, { channel, received }: StreamNote) {
  const claims = { tokenId: channel, environmentId: environment.id, topics: [{ channel, name: TOPIC }], keyId: null };
  const release = await subscribers.prepare(claims);
  const refused = subscribers.add(connection, claims, received.at(-1)?.number ?? null);
  release();
  if (refused) throw new Error(refused.message);
  void subscribers.resume(connection);
  return { subscribers, isDead };
}

/** What comes in after its end is lost with it. */
class Follower implements Connection {
  readonly #note: StreamNote;
  isCut = false;

  constructor(note: StreamNote) {
    this.#note = note;
  }

  send(text: string, number: number | null): void {
    if (this.isCut) return;
    if (number === null) this.#note.gaps.push({ at: now(), received: this.#note.received.length });
    else this.#note.received.push({ number, no: (JSON.parse(text) as { data: number }).data });
  }

  waitingBytes(): number {
    return 0;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  cut(): void {
    this.isCut = true;
  }
}
