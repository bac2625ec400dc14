/** Moves in PostgreSQL: who works on a move, what it does next, and what follows from a failure. */

import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { EnvironmentMoveStore, MoveProgress } from "../../contract/index.ts";
import { claimMove, insertMove, listMoves, type MoveRow, noteMove, renewMove, toMove } from "./directory.ts";
import { abort, clear, finishSwitch, forget } from "./end-move.ts";
import { MoveDatabases, type MoveDatabasesParts } from "./move-databases.ts";
import { type MoveParts, type MoveTiming, moveEnvironment } from "./move-environment.ts";
import { insertMoveJob } from "./move-job.ts";
import { MoveLost, type MovePoint, MoveRefused, type MoveSide } from "./move-parts.ts";

export interface EnvironmentMoveStoreParts extends MoveDatabasesParts {
  node: string;
  /** Set only by tests. */
  timing?: Partial<MoveTiming>;
  atPoint?(point: MovePoint): Promise<void>;
}

const TIMING: MoveTiming = { workMs: 500, holdMs: 4_500, fenceMs: 120_000 };
/** How often a lease is renewed before it would expire. */
const RENEWALS = 3;
/** A move that failed so often in a row, before the switch, ends. */
const FAILURES_MAX = 10;
/** Longer than a database may take to store a job. */
const BEGIN_MS = 20_000;
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 30_000;

type Changes = Parameters<typeof noteMove>[2];

export function environmentMoveStore(parts: EnvironmentMoveStoreParts): EnvironmentMoveStore & { stop(): Promise<void> } {
  const { directory, node } = parts;
  const databases = new MoveDatabases(parts);
  const { fenceMs } = { ...TIMING, ...parts.timing };
  return {
    async environmentMoveInsert(params) {
      const whyNot = (reason: string) => `The move did not begin: ${reason}.`;
      const row = await insertMove(directory, { ...params, beginMs: BEGIN_MS, error: whyNot("the node that started it stopped") });
      if (!row) return false;
      try {
        const { environmentId, jobId, filter, now: beganAt } = params;
        await insertMoveJob(await databases.open(row.from_no), { environmentId, jobId, filter, beganAt });
        await noteMove(directory, row, { state: "moving", error: null, next_at: 0 });
      } catch (error) {
        // The job may have been stored without a response: it is ended when its database can be reached.
        const aborting = { state: "aborting", error: whyNot((error as Error).message), next_at: 0 } as const;
        await noteMove(directory, row, aborting).catch(() => undefined);
        throw error;
      }
      return true;
    },
    environmentMoveList: () => listMoves(directory),
    async environmentMoveAdvance({ now, leaseMs }) {
      const row = await claimMove(directory, { node, now, until: now + leaseMs, fenceMs });
      if (row) return advance(parts, databases, row, { now, leaseMs });
      await databases.closeAll();
      return null;
    },
    stop: () => databases.closeAll(),
  };
}

async function advance(
  parts: EnvironmentMoveStoreParts,
  databases: MoveDatabases,
  row: MoveRow,
  { now, leaseMs }: { now: number; leaseMs: number },
): Promise<MoveProgress | null> {
  const { directory } = parts;
  const renewing = setInterval(() => void renewMove(directory, row, directory.now() + leaseMs).catch(() => undefined), leaseMs / RENEWALS);
  try {
    return await attempt(parts, databases, row, now);
  } catch (error) {
    if (error instanceof MoveLost) return null;
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

async function attempt(parts: EnvironmentMoveStoreParts, databases: MoveDatabases, row: MoveRow, now: number): Promise<MoveProgress> {
  const { directory } = parts;
  try {
    const changes = await step(await movePartsOf(parts, databases, row), row, now);
    const noted = await noteMove(directory, row, { failures: 0, ...changes });
    return { move: toMove(noted), nextAt: noted.next_at, failure: null };
  } catch (error) {
    if (error instanceof MoveLost) throw error;
    const noted = await noteMove(directory, row, afterFailure(row, error as Error, now));
    return { move: toMove(noted), nextAt: noted.next_at, failure: (error as Error).message };
  }
}

async function movePartsOf(
  { directory, timing, atPoint }: EnvironmentMoveStoreParts,
  databases: MoveDatabases,
  row: MoveRow,
): Promise<MoveParts> {
  const own = { environmentId: row.environment_id as EnvironmentId, jobId: row.job_id as JobId, epoch: row.epoch };
  const side = async (no: number): Promise<MoveSide> => ({ ...own, database: await databases.open(no) });
  const [source, target] = [await side(row.from_no), await side(row.to_no)];
  return { directory, source, target, timing: { ...TIMING, ...timing }, atPoint: async (point) => atPoint?.(point) };
}

/** What the directory records about the move afterwards. */
async function step(parts: MoveParts, row: MoveRow, now: number): Promise<Changes> {
  switch (row.state) {
    case "moving":
      return (await moveEnvironment(parts, row)) === "cancelled" ? { state: "aborting" } : { next_at: 0 };
    case "switched":
      await finishSwitch(parts);
      return { state: "forgetting", next_at: (row.switched_at ?? now) + parts.timing.fenceMs };
    case "forgetting":
      return (await forget(parts)) ? { next_at: now } : { state: "ended" };
    case "aborting":
      await abort(parts, row);
      return { state: "clearing" };
    default:
      return (await clear(parts, row)) ? {} : { state: "ended" };
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
