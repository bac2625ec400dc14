/** Takes a checkpoint: results that an SDK sends while its call is in progress. */

import { jsonMembers, Refusal, type RunId } from "@inlet/protocol";
import type { IsReachable } from "../api/sdk/sdk-routes.ts";
import type { Executor } from "../execute/executor.ts";
import { type CheckpointOutcome, decideCheckpoint, hasOtherResult, isSuperseded } from "../execute/steps/decide-checkpoint.ts";
import { type Operation, readOperations } from "../execute/steps/operations.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Environment, RunRecord, Store } from "../store/contract/index.ts";

export interface TakeCheckpointParts {
  store: Store;
  executor: Executor;
  directory: Directory;
  now(): number;
}

/** Operations allowed in a checkpoint: the service would have to act on any other. */
const EARLY_OPERATIONS: readonly string[] = ["step", "steprun", "stepfailed", "stepplanned", "none", "deferadd", "deferabort"];

interface Checkpoint {
  steps: readonly Operation[];
  /** The call it comes from; null: the SDK does not say. */
  callId: string | null;
}

type Taken = CheckpointOutcome | "superseded" | "ended";

export async function takeCheckpoint(
  parts: TakeCheckpointParts,
  id: RunId,
  body: string,
  isReachable: IsReachable,
): Promise<Environment | Refusal> {
  const { store, directory } = parts;
  const { steps, callId } = readCheckpoint(body);
  if (!steps) return new Refusal("checkpoint_invalid", "The body must be an object whose `steps` are step operations.");
  const late = steps.find(({ op }) => !EARLY_OPERATIONS.includes(op));
  if (late) return new Refusal("checkpoint_invalid", `A ${late.op} cannot be part of a checkpoint.`);
  const run = await store.runFind({ id });
  const environment = run && directory.environment(run.environmentId);
  if (!environment || !isReachable(environment)) return new Refusal("run_not_found", `There is no run ${id}.`);
  const checkpoint = { steps, callId };
  let taken = await take(parts, run, checkpoint, { mayRepeat: false });
  if (typeof taken === "object" && taken.isRepeated) {
    const context = await store.runContext({ environmentId: run.environmentId, runNo: run.no });
    if (context && steps.some((step) => hasOtherResult(context.steps, step)))
      return new Refusal("checkpoint_invalid", "A step has another result already.");
    taken = await take(parts, run, checkpoint, { mayRepeat: true });
  }
  if (taken === "superseded") return new Refusal("call_superseded", `This call of the run ${id} was superseded by a new one.`);
  if (taken === "ended") return new Refusal("run_ended", `The run ${id} has already ended.`);
  if (taken.refused) return new Refusal("checkpoint_invalid", taken.refused.message);
  return environment;
}

async function take(
  { executor, now }: TakeCheckpointParts,
  run: RunRecord,
  { steps, callId }: Checkpoint,
  { mayRepeat }: { mayRepeat: boolean },
): Promise<Taken> {
  let taken: Taken = "ended";
  const isActive = await executor.change(run, (state) => {
    taken = callId !== null && isSuperseded(callId, state) ? "superseded" : decideCheckpoint(state, steps, now(), { mayRepeat });
    return taken === "superseded" ? {} : taken.change;
  });
  const decided = taken as Taken;
  return isActive || decided === "superseded" || (decided !== "ended" && decided.refused) ? decided : "ended";
}

function readCheckpoint(body: string): { steps: Checkpoint["steps"] | null; callId: string | null } {
  try {
    const members = new Map(jsonMembers(body).map(({ key, start, end }) => [key, body.slice(start, end)]));
    const callId: unknown = JSON.parse(members.get("qi_id") ?? "null");
    return {
      // Results stay in the SDK's own text: numbers keep their digits.
      steps: members.get("steps")?.startsWith("[") ? readOperations(members.get("steps") as string) : null,
      callId: typeof callId === "string" && callId !== "" ? callId : null,
    };
  } catch {
    return { steps: null, callId: null };
  }
}
