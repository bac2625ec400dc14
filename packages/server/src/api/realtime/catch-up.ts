/**
 * Brings a subscriber that comes back up to date: what it missed, once and in order, until it has everything that this node has delivered to
 * others. From then on it is served with them.
 */

import type { EnvironmentId } from "@inlet/protocol";
import {
  CHANNEL_MESSAGES_MAX,
  type RealtimeCursor,
  type RealtimeMessage,
  type RealtimeStore,
  type StoreViews,
} from "../../store/contract/index.ts";

export interface CatchUpParts {
  store: Pick<RealtimeStore, "realtimeLast" | "realtimeKept" | "realtimeFloor">;
  views: Pick<StoreViews, "realtimeRead">;
  /** How long messages are kept. */
  retentionMs: number;
  now(): number;
}

export interface CatchUpTarget {
  environmentId: EnvironmentId;
  /** It may subscribe to others meanwhile. */
  channels(): readonly string[];
  /** The number of the last message that it got. */
  after: number;
  /** The number up to which messages had been delivered to others when it came. */
  joinedAt: number;
  /** The number up to which messages have been delivered to others. */
  delivered(): number;
  /** Sends what belongs to its topics. */
  send(message: RealtimeMessage): void;
  sendGap(): void;
  /** Resolves once it has read what was sent. */
  drained(): Promise<void>;
  /** It has gone. */
  isGone(): boolean;
  /** It has all that was delivered to others, and is served with them from now on: with what follows `reached`. */
  goLive(reached: number): void;
}

const PAGE_MESSAGES = 100;
/**
 * A channel keeps so many messages: of one that the subscriber has had nothing of yet, nothing is removed before that many have followed. Half
 * of that, since some may be stored and not yet delivered to this node.
 */
const UNEXAMINED_MAX = CHANNEL_MESSAGES_MAX / 2;

export async function catchUp({ store, views, retentionMs, now }: CatchUpParts, target: CatchUpTarget): Promise<void> {
  const { environmentId, after } = target;
  const publishedAfter = now() - retentionMs;
  // A number that was never given says nothing about what it missed.
  const isKnown = after <= (await store.realtimeLast({ environmentId }));
  const floorOf = async (channel: string) => [channel, await store.realtimeFloor({ environmentId, channel })] as const;
  const floors = new Map(await Promise.all(target.channels().map(floorOf)));
  const isKept = isKnown && (await store.realtimeKept({ environmentId, numbers: [after], publishedAfter })).length > 0;
  /** It was told of a gap, and got nothing since. */
  let isAtGap = isKnown && (!isKept || [...floors.values()].some((floor) => floor > after));
  if (isAtGap) target.sendGap();
  let reached = isKnown ? after : target.joinedAt;
  const anchors = new Map([...floors].filter(([, floor]) => floor > after));
  while (!target.isGone()) {
    const until = target.delivered();
    // Nothing can be delivered to others between this look and the change.
    if (reached >= until) return target.goLive(reached);
    const cursors = target.channels().map((channel) => ({ channel, after: Math.max(reached, floors.get(channel) ?? 0) }));
    const page = await views.realtimeRead({ environmentId, cursors, until, publishedAfter, limit: PAGE_MESSAGES });
    const removed = await removedSince(store, { environmentId, cursors, until, anchors });
    if (target.isGone()) return;
    if (removed.size > 0 && !isAtGap) target.sendGap();
    if (removed.size > 0) isAtGap = true;
    for (const [channel, floor] of removed) {
      floors.set(channel, floor);
      anchors.set(channel, floor);
    }
    for (const message of page.messages) {
      // Read, and removed since: what follows the gap is what is kept.
      if (message.number <= (floors.get(message.channel) ?? 0)) continue;
      target.send(message);
      isAtGap = false;
      anchors.set(message.channel, message.number);
    }
    reached = page.reached;
    await target.drained();
  }
}

interface ReadFrom {
  environmentId: EnvironmentId;
  cursors: readonly RealtimeCursor[];
  until: number;
  /** Of a channel, the last message that it got, or the newest that it will not get. 0: unknown. */
  anchors: ReadonlyMap<string, number>;
}

/**
 * The channels, with their floors, of which messages may have been removed before they were read: others publish meanwhile. The oldest go
 * first, so while the anchor of a channel is kept, so is everything that follows. To be asked after the read.
 */
async function removedSince(store: CatchUpParts["store"], { environmentId, cursors, until, anchors }: ReadFrom) {
  const anchorOf = ({ channel }: RealtimeCursor) => anchors.get(channel) ?? 0;
  const numbers = cursors.map(anchorOf).filter((anchor) => anchor > 0);
  const kept = new Set(numbers.length > 0 ? await store.realtimeKept({ environmentId, numbers, publishedAfter: 0 }) : []);
  const removed = new Map<string, number>();
  const examine = async (cursor: RealtimeCursor) => {
    const { channel, after } = cursor;
    const anchor = anchorOf(cursor);
    if (anchor > 0 ? kept.has(anchor) : until - after <= UNEXAMINED_MAX) return;
    const floor = await store.realtimeFloor({ environmentId, channel });
    if (anchor > 0 || floor > after) removed.set(channel, floor);
  };
  await Promise.all(cursors.map(examine));
  return removed;
}
