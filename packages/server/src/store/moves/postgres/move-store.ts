/**
 * Moves in PostgreSQL. The node that works on a move has its own connections to the databases concerned, so that a move takes none from
 * the work of events and runs.
 */

import type { EnvironmentId, JobId } from "@inlet/protocol";
import { type EnvironmentMoveStore, type MoveProgress, type PlacedDatabase, StoreUnavailable } from "../../contract/index.ts";
import { type Database, PostgresDatabase } from "../../postgres/database.ts";
import { claimMove, insertMove, listMoves, type MoveRow, noteMove, renewMove, toMove, withdrawMove } from "./directory.ts";
import { abort, clear, finishSwitch, forget } from "./end-move.ts";
import { type MoveParts, type MoveTiming, moveEnvironment } from "./move-environment.ts";
import { insertMoveJob } from "./move-job.ts";
import { MoveLost, type MovePoint, MoveRefused, type MoveSide } from "./move-parts.ts";

export interface EnvironmentMoveStoreParts {
  directory: Database;
  node: string;
  members(): Promise<readonly PlacedDatabase[]>;
  /** Set only by tests. */
  timing?: Partial<MoveTiming>;
  atPoint?(point: MovePoint): Promise<void>;
}

const TIMING: MoveTiming = { workMs: 500, holdMs: 4_500, forgetAfterMs: 30_000, fenceMs: 120_000 };
const CONNECTIONS_MAX = 4;
/** How often a lease is renewed before it would expire. */
const RENEWALS = 3;
/** A move that failed so often in a row, before the switch, ends. */
const FAILURES_MAX = 10;
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 30_000;

type Changes = Parameters<typeof noteMove>[2];

export function environmentMoveStore(parts: EnvironmentMoveStoreParts): EnvironmentMoveStore & { stop(): Promise<void> } {
  const { directory, node } = parts;
  const opened = new Map<number, Database>();

  async function databaseOf(no: number): Promise<Database> {
    if (no === 0) return directory;
    const known = opened.get(no);
    if (known) return known;
    const member = (await parts.members()).find((one) => one.no === no);
    if (!member) throw new StoreUnavailable(`there is no database with the number ${no}`);
    const database = new PostgresDatabase({
      url: member.url,
      connectionsMax: CONNECTIONS_MAX,
      listenUrl: null,
      onFault: () => undefined,
      onRecovery: () => undefined,
    });
    opened.set(no, database);
    return database;
  }

  async function closeAll(): Promise<void> {
    const all = [...opened.values()];
    opened.clear();
    await Promise.all(all.map((database) => database.stop()));
  }

  async function partsOf(row: MoveRow): Promise<MoveParts> {
    const own = { environmentId: row.environment_id as EnvironmentId, jobId: row.job_id as JobId, epoch: row.epoch };
    const side = async (no: number): Promise<MoveSide> => ({ ...own, database: await databaseOf(no) });
    const timing = { ...TIMING, ...parts.timing };
    const atPoint = async (point: MovePoint) => parts.atPoint?.(point);
    return { directory, source: await side(row.from_no), target: await side(row.to_no), timing, atPoint };
  }

  async function advance(row: MoveRow, now: number, leaseMs: number): Promise<MoveProgress | null> {
    const renewing = setInterval(
      () => void renewMove(directory, row, directory.now() + leaseMs).catch(() => undefined),
      leaseMs / RENEWALS,
    );
    try {
      const changes = await step(await partsOf(row), row, now);
      const noted = await noteMove(directory, row, { failures: 0, ...changes });
      return { move: toMove(noted), nextAt: noted.next_at, failure: null };
    } catch (error) {
      if (error instanceof MoveLost) return null;
      const failure = (error as Error).message;
      const noted = await noteMove(directory, row, afterFailure(row, error as Error, now));
      return { move: toMove(noted), nextAt: noted.next_at, failure };
    } finally {
      clearInterval(renewing);
    }
  }

  return {
    async environmentMoveInsert(params) {
      const row = await insertMove(directory, params);
      if (!row) return false;
      try {
        const { environmentId, jobId, filter, now: beganAt } = params;
        await insertMoveJob(await databaseOf(row.from_no), { environmentId, jobId, filter, beganAt });
      } catch (error) {
        await withdrawMove(directory, row).catch(() => undefined);
        throw error;
      }
      return true;
    },
    environmentMoveList: () => listMoves(directory),
    async environmentMoveAdvance({ now, leaseMs }) {
      const row = await claimMove(directory, { node, now, until: now + leaseMs });
      if (row) return advance(row, now, leaseMs);
      await closeAll();
      return null;
    },
    stop: closeAll,
  };
}

/** What the directory records about the move afterwards. */
async function step(parts: MoveParts, row: MoveRow, now: number): Promise<Changes> {
  switch (row.state) {
    case "moving":
      return (await moveEnvironment(parts, row)) === "cancelled" ? { state: "aborting" } : { next_at: 0 };
    case "switched":
      await finishSwitch(parts);
      return { state: "forgetting", next_at: now + parts.timing.forgetAfterMs };
    case "forgetting": {
      const nextAt = await forget(parts, row, now);
      return nextAt === null ? { state: "ended" } : { next_at: nextAt };
    }
    case "aborting":
      await abort(parts, row);
      return { state: "clearing" };
    default:
      return (await clear(parts)) ? {} : { state: "ended" };
  }
}

/** Before the switch, the environment can stay where it is; after it, the move goes on until it succeeds. */
function afterFailure({ state, failures: before }: MoveRow, error: Error, now: number): Changes {
  const failures = before + 1;
  if (state === "moving" && error instanceof MoveRefused) return { state: "aborting", error: error.message, failures: 0 };
  if (state === "moving" && failures >= FAILURES_MAX) {
    const message = `The move failed ${failures} times in a row, at last because ${error.message}. The environment stays where it is.`;
    return { state: "aborting", error: message, failures: 0, next_at: 0 };
  }
  return { failures, next_at: now + Math.min(BACKOFF_MS * 2 ** before, BACKOFF_MS_MAX) };
}
