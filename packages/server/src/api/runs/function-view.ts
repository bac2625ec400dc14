/** A function, as REST shows it. */

import type { FunctionNo } from "@inlet/protocol";
import { iso } from "../../observe/run-view.ts";
import type { App, Environment, StoredFunction } from "../../store/contract/index.ts";
import { INSTANT, INSTANT_OR_NULL, INTEGER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

export interface ShownFunction {
  stored: StoredFunction;
  app: App;
  url: string;
  config: Readonly<Record<string, unknown>>;
  /** Why its rate cannot be limited; null if it can. */
  rateLimitFault: string | null;
}

const LIMITED_RATE = { ...shape({ limit: INTEGER, period: TEXT }), type: ["object", "null"] };
export const FUNCTION = shape(
  {
    id: { ...TEXT, description: "<app>-<function>" },
    name: TEXT,
    app: TEXT,
    environment: TEXT,
    url: TEXT,
    triggers: {
      type: "array",
      items: shape({ event: TEXT, if: TEXT, cron: TEXT }, { optional: ["event", "if", "cron"] }),
    },
    config: { type: "object", additionalProperties: true, description: "Retries, and flow control as it was registered." },
    limits: {
      ...shape({
        concurrency: { type: ["integer", "null"] },
        throttle: LIMITED_RATE,
        rateLimit: LIMITED_RATE,
        changedAt: INSTANT_OR_NULL,
        changedBy: TEXT_OR_NULL,
      }),
      description: "Limits that were set without a deploy; they take precedence over those in `config`. Null: the app's own.",
    },
    pausedAt: { ...INSTANT_OR_NULL, description: "Since when it is paused." },
    held: { ...INTEGER, description: "How many runs wait because it is paused." },
    createdAt: INSTANT,
    updatedAt: INSTANT,
  },
  { title: "Function" },
);

/** All other registered fields are the function's configuration. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["id", "name", "triggers", "steps"]);

export function functionView({ stored, app, url, config }: ShownFunction, environment: Environment, held: ReadonlyMap<FunctionNo, number>) {
  return {
    id: stored.id,
    name: stored.name,
    app: app.name,
    environment: environment.name,
    url,
    triggers: triggersOf(config),
    config: { ...Object.fromEntries(Object.entries(config).filter(([key]) => !OWN_FIELDS.has(key))), retries: retriesOf(config) },
    limits: limitsView(stored),
    pausedAt: iso(stored.pausedAt),
    held: held.get(stored.no) ?? 0,
    createdAt: iso(stored.createdAt),
    updatedAt: iso(stored.updatedAt),
  };
}

function limitsView({ limits }: StoredFunction) {
  const { concurrency = null, throttle = null, rateLimit = null, changedAt = null, changedBy = null } = limits ?? {};
  return { concurrency, throttle, rateLimit, changedAt: iso(changedAt), changedBy };
}

function triggersOf({ triggers }: Readonly<Record<string, unknown>>): object[] {
  const given = (Array.isArray(triggers) ? triggers : []) as { event?: string; expression?: string; if?: string; cron?: string }[];
  return given.map(({ event, expression, if: condition = expression, cron }) =>
    cron === undefined ? { event, ...(condition !== undefined && { if: condition }) } : { cron },
  );
}

function retriesOf({ steps }: Readonly<Record<string, unknown>>): number | null {
  const [step] = Object.values((steps ?? {}) as Record<string, { retries?: { attempts?: number } }>);
  return step?.retries?.attempts ?? null;
}
