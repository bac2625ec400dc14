/** Kinds and states of steps. */

export const STEP_KINDS = ["run", "send", "sleep", "wait", "signal", "invoke", "fetch", "infer", "wrap", "defer"] as const;
export type StepKind = (typeof STEP_KINDS)[number];
/** A step is open until it is completed or failed, and then never changes again. */
export type StepStatus = "planned" | "running" | "sleeping" | "waiting" | "completed" | "failed";
