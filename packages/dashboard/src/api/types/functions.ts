/** Apps and functions, as the REST API responds with them. */

export interface AppItem {
  id: string;
  name: string;
  url: string;
  environment: string;
  sdk: string | null;
  framework: string | null;
  functions: number;
  syncedAt: string | null;
  createdAt: string;
  error: string | null;
}

export interface FunctionTrigger {
  event?: string;
  if?: string;
  cron?: string;
}

export interface FunctionItem {
  id: string;
  name: string;
  app: string;
  environment: string;
  triggers: FunctionTrigger[];
  url: string;
  config: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  /** Since when it is paused. */
  pausedAt: string | null;
  /** How many runs wait because it is paused. */
  held: number;
  limits: FunctionLimits;
}

/** Set without a deploy; null: as the app registered it. */
export interface FunctionLimits {
  concurrency: number | null;
  throttle: LimitedRate | null;
  rateLimit: LimitedRate | null;
  changedAt: string | null;
  changedBy: string | null;
}

export interface LimitedRate {
  limit: number;
  period: string;
}

/** A key of a function with an order whose later runs wait, because one of its runs failed. */
export interface Hold {
  id: string;
  /** The value of the ordering key, as JSON text; null if the run has been removed or its event erased. */
  key: string | null;
  /** The run that failed; null if it has been removed. */
  runId: string | null;
  heldAt: string;
  waiting: number;
}
