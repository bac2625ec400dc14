/** The statuses of a run, as the store keeps them and the REST API shows them. */

export const RUN_STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type RunEndStatus = Extract<RunStatus, "completed" | "failed" | "cancelled">;
