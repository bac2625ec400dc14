/** The columns of figures over time, in the order in which both engines write them. */

export const TRAFFIC_COLUMNS = ["accepted", "duplicates", "refused", "runs_started", "runs_completed", "runs_failed"];
