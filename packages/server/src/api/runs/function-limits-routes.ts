/** REST: limits of a function, set without a deploy. */

import { DAY_MS, parseDuration, SECOND_MS, YEAR_MS } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import type { AppStore, FunctionLimits, LimitedRate } from "../../store/contract/index.ts";
import { principalOf } from "../access/principal.ts";
import { environmentOf } from "../access/rest-access.ts";
import { invalid } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { changedFunction, FUNCTION_CHANGED, type FunctionsRoutesParts, functionNotFound } from "./functions-routes.ts";

export interface FunctionLimitsRoutesParts extends FunctionsRoutesParts {
  store: Pick<AppStore, "functionLimit">;
  registry: FunctionsRoutesParts["registry"] & { refresh(): Promise<void> };
  now(): number;
}

type LimitsBody = Partial<Pick<FunctionLimits, "concurrency" | "throttle" | "rateLimit">>;

const LIMIT = { type: "integer", minimum: 1, maximum: 1_000_000 } as const;
const RATE = closed({ limit: LIMIT, period: { type: "string", maxLength: 32, description: "Such as `1m`." } }, ["limit", "period"]);
const OR_NULL = "Null removes this limit, and the app's own applies again.";
const BODY = closed({
  concurrency: {
    anyOf: [LIMIT, { type: "null" }],
    description: `Maximum number of concurrent steps, or of concurrent runs if the function limits its runs. ${OR_NULL}`,
  },
  throttle: { anyOf: [RATE, { type: "null" }], description: `How many runs start in a period; others wait. ${OR_NULL}` },
  rateLimit: { anyOf: [RATE, { type: "null" }], description: `How many runs start in a period; others are dropped. ${OR_NULL}` },
});
const NO_LIMITS = { concurrency: null, throttle: null, rateLimit: null };

export function registerFunctionLimitsRoutes(app: FastifyInstance, parts: FunctionLimitsRoutesParts): void {
  const { access, store, registry, now } = parts;
  const schema = {
    ...FUNCTION_CHANGED,
    summary: "Limit a function without a deploy",
    description:
      "Changes the limits given. They take precedence over those that the app registered with the same keys, and survive its syncs.",
    body: BODY,
  };
  app.put<{ Params: { id: string }; Body: LimitsBody }>(
    "/functions/:id/limits",
    { config: { about: "environment", repair: true, byId: true }, schema },
    async (request) => {
      const environment = environmentOf(access, request);
      const { id } = request.params;
      const known = registry.functions(environment).find(({ stored }) => stored.id === id);
      if (!known) throw functionNotFound(id, environment);
      checkRate("throttle", request.body.throttle, SECOND_MS, YEAR_MS);
      checkRate("rateLimit", request.body.rateLimit, 1, DAY_MS);
      if (request.body.rateLimit && known.rateLimitFault) throw invalid("rateLimit", known.rateLimitFault);
      const { concurrency, throttle, rateLimit } = { ...NO_LIMITS, ...known.stored.limits, ...request.body };
      const isSet = [concurrency, throttle, rateLimit].some((limit) => limit !== null);
      const changed = { concurrency, throttle, rateLimit, changedAt: now(), changedBy: principalOf(request).name };
      await store.functionLimit({ environmentId: environment.id, functionNo: known.stored.no, limits: isSet ? changed : null });
      await registry.refresh();
      return changedFunction(parts, request, environment, id, "limited", { concurrency, throttle, rateLimit });
    },
  );
}

function checkRate(field: string, rate: LimitedRate | null | undefined, minMs: number, maxMs: number): void {
  if (!rate) return;
  const ms = parseDuration(rate.period);
  if (ms === null || ms < minMs || ms > maxMs)
    throw invalid(`${field}.period`, `must be a duration such as "1m", from ${minMs} ms to ${maxMs / DAY_MS} days`);
}
