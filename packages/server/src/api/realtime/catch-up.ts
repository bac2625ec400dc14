/**
 * Brings a subscriber that comes back up to date: what it missed, once and in order, until it has everything that this node has delivered to
 * others. From then on it is served with them.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeCursor, RealtimeMessage, RealtimeStore, StoreViews } from "../../store/contract/index.ts";

export interface CatchUpParts {
  store: Pick<RealtimeStore, "realtimeLast" | "realtimeHas" | "realtimeFloor">;
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

export async function catchUp({ store, views, retentionMs, now }: CatchUpParts, target: CatchUpTarget): Promise<void> {
  const { environmentId, after } = target;
  const publishedAfter = now() - retentionMs;
  // A number that was never given says nothing about what it missed.
  const isKnown = after <= (await store.realtimeLast({ environmentId }));
  const floorOf = async (channel: string) => [channel, await store.realtimeFloor({ environmentId, channel })] as const;
  const floors = new Map(await Promise.all(target.channels().map(floorOf)));
  const isKept = isKnown && (await store.realtimeHas({ environmentId, number: after, publishedAfter }));
  if (isKnown && (!isKept || [...floors.values()].some((floor) => floor > after))) target.sendGap();
  let reached = isKnown ? after : target.joinedAt;
  /** Of each channel, the last message that it got. */
  const got = new Map<string, number>();
  while (!target.isGone()) {
    const until = target.delivered();
    // Nothing can be delivered to others between this look and the change.
    if (reached >= until) return target.goLive(reached);
    const cursors = target.channels().map((channel) => ({ channel, after: Math.max(reached, floors.get(channel) ?? 0) }));
    const page = await views.realtimeRead({ environmentId, cursors, until, publishedAfter, limit: PAGE_MESSAGES });
    const removed = await removedSince(store, { environmentId, cursors, got, publishedAfter });
    if (target.isGone()) return;
    if (removed.size > 0) target.sendGap();
    for (const [channel, floor] of removed) {
      got.delete(channel);
      floors.set(channel, floor);
    }
    for (const message of page.messages) {
      target.send(message);
      got.set(message.channel, message.number);
    }
    reached = page.reached;
    await target.drained();
  }
}

interface ReadFrom {
  environmentId: EnvironmentId;
  cursors: readonly RealtimeCursor[];
  got: ReadonlyMap<string, number>;
  publishedAfter: number;
}

/**
 * The channels, with their floors, of which messages may have been removed before they were read: others publish meanwhile. The oldest go
 * first, so while the last message that it got is kept, so is everything that follows. To be asked after the read.
 */
async function removedSince(store: CatchUpParts["store"], { environmentId, cursors, got, publishedAfter }: ReadFrom) {
  const removed = new Map<string, number>();
  const examine = async ({ channel, after }: RealtimeCursor) => {
    const number = got.get(channel);
    if (number !== undefined && (await store.realtimeHas({ environmentId, number, publishedAfter }))) return;
    const floor = await store.realtimeFloor({ environmentId, channel });
    if (number !== undefined || floor > after) removed.set(channel, floor);
  };
  await Promise.all(cursors.map(examine));
  return removed;
}
