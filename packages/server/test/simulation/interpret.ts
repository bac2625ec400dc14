/**
 * Runs a function's code with whatever step tools it is given: those of an SDK in the apps, those of the model beside the store. What
 * it returns tells the path it took, so that two runs of one function that went differently never look the same.
 */

import type { Code, FetchCode, RunCode } from "./scenario.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type StepCode = Extract<Code, { id: string }>;

export interface Tools {
  run(code: RunCode): Promise<Json>;
  sleep(code: Extract<Code, { kind: "sleep" }>): Promise<unknown>;
  /** The number of the event that came, or null. */
  wait(code: Extract<Code, { kind: "wait" }>): Promise<number | null>;
  invoke(code: Extract<Code, { kind: "invoke" }>): Promise<Json>;
  /** How many events were sent. */
  send(code: Extract<Code, { kind: "send" }>): Promise<number>;
  /** What was sent with the signal, as text, or null. */
  signal(code: Extract<Code, { kind: "signal" }>): Promise<string | null>;
  /** The decision and its number, or null. */
  ask(code: Extract<Code, { kind: "ask" }>): Promise<string | null>;
  /** Whether anybody waited for it. */
  tell(code: Extract<Code, { kind: "tell" }>): Promise<boolean>;
  /** The status of the response. */
  fetch(code: FetchCode): Promise<number>;
  defer(code: Extract<Code, { kind: "defer" }>): void;
  /** Which attempt this call is. */
  attempt: number;
  finalError(message: string): Error;
}

export async function interpret(code: Code, tools: Tools): Promise<Json> {
  switch (code.kind) {
    case "run":
      return tools.run(code);
    case "sleep":
      await tools.sleep(code);
      return code.id;
    case "wait":
      return received(code, await tools.wait(code));
    case "signal":
      return received(code, await tools.signal(code));
    case "ask":
      return received(code, await tools.ask(code));
    case "invoke":
      return { [code.id]: await tools.invoke(code) };
    case "send":
      return `${code.id} sent ${await tools.send(code)}`;
    case "tell":
      return `${code.id} reached ${(await tools.tell(code)) ? "one" : "nobody"}`;
    case "fetch":
      return `${code.id} answered ${await tools.fetch(code)}`;
    case "defer":
      tools.defer(code);
      return code.id;
    case "sequence": {
      const values: Json[] = [];
      for (const part of code.parts) values.push(await interpret(part, tools));
      return values;
    }
    case "all":
      return Promise.all(begin(code.parts, tools));
    case "race":
      return { first: await Promise.race(begin(code.parts, tools)) };
    case "loop": {
      const values: Json[] = [];
      for (let turn = 0; turn < code.times; turn++) values.push(await interpret(code.part, tools));
      return values;
    }
    case "try":
      return interpret(code.part, tools).catch(async (error: Error) => ({
        caught: error.message,
        instead: await interpret(code.otherwise, tools),
      }));
    case "throw":
      return thrown(code, tools);
  }
}

function received({ id }: StepCode, value: number | string | null): string {
  return value === null ? `${id} timed out` : `${id} got ${value}`;
}

/** What people say when they decide. Every decision has a number of its own. */
export interface DecisionValue {
  decision: "approved" | "rejected";
  by: string;
  comment: string | null;
  data: { no: number };
}

export function decisionText({ decision, by, data }: DecisionValue): string {
  return `${decision} ${data.no} by ${by}`;
}

/** A signal carries a number, or is answered by a decision. */
export function signalText(data: { n: number } | DecisionValue): string {
  return "decision" in data ? decisionText(data) : String(data.n);
}

/** A step that stands alone is handed to Promise.all itself, as people write it: SDKs look at who listens to a step's promise. */
function begin(parts: readonly Code[], tools: Tools): Promise<Json>[] {
  return parts.map((part) => {
    const begun = part.kind === "run" ? tools.run(part) : interpret(part, tools);
    // Whoever lost a race may fail without anybody listening. A second listener on a step's own promise would be seen by the SDK.
    if (part.kind !== "run") begun.catch(() => undefined);
    return begun;
  });
}

function thrown({ fails, final }: Extract<Code, { kind: "throw" }>, { attempt, finalError }: Tools): Json {
  if (attempt >= fails) return "passed";
  if (final) throw finalError("the function gave up");
  throw new Error("the function failed");
}

/** What a step's body returns in a run that was started by event `n`. */
export function bodyValue({ id, bytes = 0 }: RunCode, n: number): string {
  return `${id} of ${n}`.padEnd(bytes, ".");
}

export function bodyError({ id }: RunCode, n: number): string {
  return `${id} of ${n} failed`;
}
