/** Limits of functions in files. They can be set once the app of the function is synced. */

import type { RestClient } from "../../rest/rest-client.ts";
import type { Fields } from "../format/definition.ts";
import { durationOf } from "./event-types.ts";
import type { NamedKind, ServerObject } from "./named-object.ts";

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
    defaults: FUNCTION_DEFAULTS,
    comparable(_, value) {
      const rate = value as { limit: number; period: string } | number | null;
      return typeof rate === "object" && rate !== null ? { limit: rate.limit, period: durationOf(rate.period) } : rate;
    },
    async create({ environment, name }, fields) {
      await put(environment, name, fields);
      return [];
    },
    async change({ environment, name }, _, fields) {
      await put(environment, name, fields);
    },
    async remove({ environment, name }) {
      await put(environment, name, FUNCTION_DEFAULTS);
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
