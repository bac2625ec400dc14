/** Limits of functions in files. They can be set once the app of the function is synced. */

import type { RestClient } from "../../rest/rest-client.ts";
import type { Fields } from "../format/definition.ts";
import { durationOf } from "./event-types.ts";
import { type NamedKind, type ServerObject, setAsWhole } from "./named-object.ts";

export const FUNCTION_DEFAULTS = { concurrency: null, throttle: null, rateLimit: null } as const;

interface ServerFunction {
  id: string;
  limits: Record<keyof typeof FUNCTION_DEFAULTS, unknown>;
}

export function functionLimits(rest: RestClient): NamedKind {
  const put = (environment: string | null, name: string, body: Fields) =>
    rest.call({ method: "PUT", path: `/functions/${encodeURIComponent(name)}/limits`, env: environment, body });
  return {
    section: "functions",
    ...setAsWhole(FUNCTION_DEFAULTS, put),
    comparable(_, value) {
      const rate = value as { limit: number; period: string } | number | null;
      return typeof rate === "object" && rate !== null ? { limit: rate.limit, period: durationOf(rate.period) } : rate;
    },
  };
}

/** Those that have limits of their own. */
export async function listFunctionLimits(rest: RestClient, environment: string): Promise<ServerObject[]> {
  const { items } = await rest.list<ServerFunction>({ path: "/functions", env: environment });
  return items.flatMap(({ id, limits: { concurrency, throttle, rateLimit } }) => {
    const fields = { concurrency, throttle, rateLimit };
    return Object.values(fields).some((limit) => limit !== null) ? [{ environment, name: id, id: null, fields }] : [];
  });
}
