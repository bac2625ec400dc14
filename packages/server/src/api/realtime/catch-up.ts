/**
 * Brings a subscriber that comes back up to date: what it missed, once and in order, until it has everything that this node has delivered to
 * others. From then on it is served with them.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeMessage, RealtimeStore, StoreViews } from "../../store/contract/index.ts";

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
  while (!target.isGone()) {
    const until = target.delivered();
    // Nothing can be delivered to others between this look and the change.
    if (reached >= until) return target.goLive(reached);
    const cursors = target.channels().map((channel) => ({ channel, after: Math.max(reached, floors.get(channel) ?? 0) }));
    const page = await views.realtimeRead({ environmentId, cursors, until, publishedAfter, limit: PAGE_MESSAGES });
    if (target.isGone()) return;
    for (const message of page.messages) target.send(message);
    reached = page.reached;
    await target.drained();
  }
}
