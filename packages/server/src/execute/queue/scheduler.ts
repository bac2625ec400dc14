/**
 * Which entry is worked on next. Entries this node holds stand in lanes in memory; a lane moves on while all limits it falls
 * under have a place free. What does not fit in memory stays in the store's queue and is claimed when the lane has run low, so
 * an app that does not move holds up its own lanes and nothing else.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { ClaimedEntry } from "../../store/contract/index.ts";
import { HELD_MIN, Pace } from "./pace.ts";

/** A lane that has less left than this share of what it may hold claims more. */
const LOW_SHARE = 0.25;
const CLAIM_MAX = 1_000;
/** Lanes whose pace is remembered although they are empty. */
const PACES_MAX = 1_000;

export interface LimitRule {
  id: string;
  /** How many may be worked on at once. */
  cap: number;
}

export interface SchedulerParts {
  /** Works on an entry to its end; must not throw. */
  work(entry: ClaimedEntry): Promise<void>;
  claim(lane: string, limit: number): Promise<{ claimed: ClaimedEntry[]; more: boolean }>;
  limitsOf(lane: string): readonly LimitRule[];
  /** Of a quick lane as much is held as its pace allows. Absent: as little as of any, because claiming costs less than memory. */
  holdsByPace?: boolean;
  /** In milliseconds, from whenever. Absent: by the clock that nobody sets. */
  now?(): number;
  /** Nothing of this lane is left here. */
  onEmpty?(lane: string): void;
}

interface Lane {
  key: string;
  limits: Limit[];
  pace: Pace;
  waiting: ClaimedEntry[];
  working: number;
  /** There is more in the store. New entries must not overtake it. */
  hasBacklog: boolean;
  isClaiming: boolean;
  /** Entries were added to the store's queue since the last claim began. */
  wasNoted: boolean;
}

interface Limit {
  id: string;
  cap: number;
  inUse: number;
  /** Lanes that could not move because of it. */
  blocked: Set<Lane>;
  /** How many lanes fall under it. */
  lanes: number;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #lanes = new Map<string, Lane>();
  readonly #limits = new Map<string, Limit>();
  /** Of quick lanes that are empty, the one that was longest so first. */
  readonly #paces = new Map<string, Pace>();
  readonly #working = new Set<Promise<void>>();
  readonly #inWork = new Set<ClaimedEntry>();
  #stopped = false;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  /** How many entries of a lane may be handed to this node now. */
  roomIn(key: string): number {
    if (this.#stopped) return 0;
    const lane = this.#lanes.get(key);
    if (!lane) return this.#held(this.#paces.get(key));
    return lane.hasBacklog ? 0 : Math.max(this.#held(lane.pace) - lane.waiting.length, 0);
  }

  /** By environment, since when the oldest waits of those that are next in their lanes. */
  waitingSince(): Map<EnvironmentId, number> {
    const oldest = new Map<EnvironmentId, number>();
    for (const { waiting } of this.#lanes.values()) {
      const [next] = waiting;
      if (next) oldest.set(next.environmentId, Math.min(next.dueAt, oldest.get(next.environmentId) ?? next.dueAt));
    }
    return oldest;
  }

  /** Whether anything of this lane is here. */
  has(key: string): boolean {
    return this.#lanes.has(key);
  }

  /** Entries that are held by this node. */
  take(entries: readonly ClaimedEntry[]): void {
    const lanes = new Set<Lane>();
    for (const entry of entries) {
      const lane = this.#lane(entry.lane);
      insertByRank(lane.waiting, entry);
      lanes.add(lane);
    }
    for (const lane of lanes) this.#move(lane);
  }

  /** The store holds entries of this lane that nobody has taken. */
  noteBacklog(key: string): void {
    const lane = this.#lane(key);
    lane.hasBacklog = true;
    lane.wasNoted = true;
    this.#refill(lane);
  }

  /** Limits may have changed: functions were registered anew. */
  refreshLimits(): void {
    for (const lane of this.#lanes.values()) {
      const before = lane.limits;
      lane.limits = this.#limitsOf(lane.key);
      this.#letGo(before);
      this.#move(lane);
    }
  }

  /** Everything held here, worked on or waiting: its lease is to be renewed. */
  held(): ClaimedEntry[] {
    return [...this.#inWork, ...[...this.#lanes.values()].flatMap(({ waiting }) => waiting)];
  }

  /** Takes up nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#working);
  }

  #lane(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known) return known;
    const idle = { waiting: [], working: 0, hasBacklog: false, isClaiming: false, wasNoted: false };
    const lane: Lane = { key, limits: this.#limitsOf(key), pace: this.#paceOf(key), ...idle };
    this.#lanes.set(key, lane);
    return lane;
  }

  #held(pace: Pace | undefined): number {
    return this.#parts.holdsByPace && pace ? pace.held : HELD_MIN;
  }

  #paceOf(key: string): Pace {
    const known = this.#paces.get(key);
    if (!known) return new Pace(this.#parts.now ?? (() => performance.now()));
    this.#paces.delete(key);
    known.begin();
    return known;
  }

  #limitsOf(key: string): Limit[] {
    return this.#parts.limitsOf(key).map(({ id, cap }) => {
      const limit = this.#limits.get(id) ?? { id, cap, inUse: 0, blocked: new Set<Lane>(), lanes: 0 };
      limit.cap = cap;
      limit.lanes++;
      this.#limits.set(id, limit);
      return limit;
    });
  }

  #move(lane: Lane): void {
    while (!this.#stopped && lane.waiting.length > 0) {
      const full = lane.limits.find(({ inUse, cap }) => inUse >= cap);
      if (full) {
        full.blocked.add(lane);
        return;
      }
      this.#begin(lane, lane.waiting.shift() as ClaimedEntry);
    }
    this.#refill(lane);
  }

  #begin(lane: Lane, entry: ClaimedEntry): void {
    const { limits } = lane;
    for (const limit of limits) limit.inUse++;
    lane.working++;
    this.#inWork.add(entry);
    const working = this.#parts.work(entry).finally(() => {
      this.#working.delete(working);
      this.#inWork.delete(entry);
      lane.working--;
      lane.pace.noteEnd();
      for (const limit of limits) this.#release(limit);
      this.#move(lane);
      this.#forget(lane);
    });
    this.#working.add(working);
  }

  /**
   * A place is free: the lanes that wait for it get their turn, the longest blocked first. One that cannot use the place, because
   * another limit holds it up or nothing is left in it, must not keep it from the others.
   */
  #release(limit: Limit): void {
    limit.inUse--;
    for (let turns = limit.blocked.size; turns > 0 && limit.inUse < limit.cap; turns--) {
      const [next] = limit.blocked;
      if (!next) return;
      limit.blocked.delete(next);
      this.#move(next);
    }
  }

  #refill(lane: Lane): void {
    if (!lane.hasBacklog || lane.isClaiming || this.#stopped) return;
    const held = this.#held(lane.pace);
    if (lane.waiting.length > held * LOW_SHARE) return;
    lane.isClaiming = true;
    lane.wasNoted = false;
    this.#parts
      .claim(lane.key, Math.min(held - lane.waiting.length, CLAIM_MAX))
      .then(({ claimed, more }) => {
        lane.isClaiming = false;
        lane.hasBacklog = more || lane.wasNoted;
        lane.waiting.push(...claimed);
        lane.waiting.sort((a, b) => a.rank - b.rank);
        this.#move(lane);
        this.#forget(lane);
      })
      .catch(() => {
        // The store will be back; until then the lane keeps its backlog.
        setTimeout(() => {
          lane.isClaiming = false;
          this.#refill(lane);
        }, 1_000).unref();
      });
  }

  #forget(lane: Lane): void {
    if (lane.working > 0 || lane.waiting.length > 0 || lane.hasBacklog || lane.isClaiming) return;
    if (!this.#lanes.delete(lane.key)) return;
    this.#letGo(lane.limits);
    this.#remember(lane);
    this.#parts.onEmpty?.(lane.key);
  }

  #remember({ key, pace }: Lane): void {
    if (this.#held(pace) <= HELD_MIN) return;
    pace.rest();
    this.#paces.set(key, pace);
    if (this.#paces.size > PACES_MAX) this.#paces.delete(this.#paces.keys().next().value as string);
  }

  #letGo(limits: readonly Limit[]): void {
    for (const limit of limits) if (--limit.lanes === 0) this.#limits.delete(limit.id);
  }
}

/** Behind all of the same rank or a lower one: nearly always at the end. */
function insertByRank(waiting: ClaimedEntry[], entry: ClaimedEntry): void {
  let place = waiting.length;
  while (place > 0 && (waiting[place - 1] as ClaimedEntry).rank > entry.rank) place--;
  waiting.splice(place, 0, entry);
}
