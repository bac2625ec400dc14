/** One call of a function, with the hooks around it. */

import type { Outcome } from "../execution/execute-call.ts";
import type { BeforeFunction, CallInfo, Middleware } from "./middleware.ts";
import { runBeforeFunction, runHooks, thrown } from "./run-hooks.ts";

/** An error of a hook counts as one of the function: the attempt fails. `execute` gets the argument with everything that hooks added. */
export async function executeThrough(
  list: readonly Middleware[],
  start: BeforeFunction,
  execute: (start: BeforeFunction) => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  try {
    outcome = await execute(await runBeforeFunction(list, start));
    return await afterFunction(list, start, outcome);
  } catch (error) {
    return { kind: "threw", error, deferred: outcome?.deferred ?? [] };
  }
}

/** Calls that ended at a step are not the end of the function. */
async function afterFunction(list: readonly Middleware[], start: CallInfo, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== "returned" && outcome.kind !== "threw") return outcome;
  const { function: called, runId, attempt, maxAttempts } = start;
  const ended = outcome.kind === "threw" ? thrown(outcome.error) : { result: outcome.data, error: undefined };
  const { deferred } = outcome;
  const after = await runHooks(list, "afterFunction", { function: called, runId, attempt, maxAttempts, ...ended });
  return after.error === undefined ? { kind: "returned", data: after.result, deferred } : { kind: "threw", error: after.error, deferred };
}
