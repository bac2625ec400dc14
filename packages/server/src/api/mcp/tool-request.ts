/** A tool call as a request of the REST API: which route it reaches, and with which path, query and body. */

import { ENVIRONMENT_HEADER } from "@inlet/protocol";
import { invalid } from "../rest-errors.ts";
import type { Arguments, Tool, ToolRoute } from "./tool.ts";

export interface RestRequest {
  method: ToolRoute["method"];
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** Arguments that are no parameters of a route. */
const OWN: ReadonlySet<string> = new Set(["id", "part", "action", "environment"]);

/** The route that these arguments reach. */
export function chooseRoute({ routes, annotations, idFilter }: Tool, args: Arguments): ToolRoute {
  const selector = annotations.readOnlyHint ? "part" : "action";
  const wanted = args[selector] ?? null;
  const found = routes.filter((route) => route[selector] === wanted);
  if (found.length === 0) throw invalid(selector, `must be ${choicesText(routes.map((route) => route[selector]))}`);
  const given = (route: ToolRoute) => route.params.filter((name, index) => isGiven(args, name, index));
  const [best] = [...found]
    .filter((route) => given(route).length === route.params.length)
    .sort((a, b) => b.params.length - a.params.length);
  if (best && (best.params.length > 0 || idFilter === "id" || !isGiven(args, "id", 0))) return best;
  if (best) throw invalid("id", "is not a known parameter or field: check its spelling");
  const missing = found[0]?.params.findIndex((name, index) => !isGiven(args, name, index)) ?? 0;
  throw invalid(missing === 0 ? "id" : (found[0]?.params[missing] ?? "id"), "is required");
}

export function restRequest({ idFilter }: Tool, route: ToolRoute, args: Arguments): RestRequest {
  const rest = Object.entries(args).filter(
    ([name, value]) => (name === idFilter || !isOwn(route, name)) && (value !== null || route.method !== "GET"),
  );
  const inQuery = rest.filter(([name]) => route.method === "GET" || name in route.query);
  const inBody = rest.filter(([name]) => route.method !== "GET" && !(name in route.query));
  const query = new URLSearchParams(
    Object.fromEntries(inQuery.map(([name, value]) => [name === idFilter ? "id" : name, textOf(name, value)])),
  );
  return {
    method: route.method,
    url: `${pathOf(route, args)}${query.size > 0 ? `?${query}` : ""}`,
    headers: {
      ...environmentHeader(args.environment),
      ...(inBody.length > 0 && { "content-type": "application/json" }),
    },
    ...(inBody.length > 0 && { body: bodyText(inBody) }),
  };
}

function isGiven(args: Arguments, name: string, index: number): boolean {
  return args[name] !== undefined || (index === 0 && args.id !== undefined);
}

function isOwn(route: ToolRoute, name: string): boolean {
  if (route.method === "GET" && name === "action") return false;
  return OWN.has(name) || route.params.includes(name);
}

function choicesText(choices: readonly (string | null)[]): string {
  const named = [...new Set(choices)].map((choice) => (choice === null ? "absent" : `"${choice}"`));
  return named.join(" or ");
}

function pathOf({ url, params }: ToolRoute, args: Arguments): string {
  return url.replace(/:(\w+)/g, (_, name: string) => segment(name, args[name] ?? (name === params[0] ? args.id : undefined)));
}

/** `.` and `..` would be read as steps between folders, encoded or not. */
export function segment(name: string, value: unknown): string {
  const text = textOf(name, value);
  if (text === "" || text === "." || text === "..") throw invalid(name, "does not exist");
  if (!text.isWellFormed()) throw invalid(name, "is not Unicode text");
  return encodeURIComponent(text);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalid(name, "must be a text, a number or a boolean");
}

/** Nothing for a call that names none. */
export function environmentHeader(environment: unknown): Record<string, string> {
  if (environment === undefined || environment === null) return {};
  if (typeof environment === "string" && /^[\x21-\x7e]+$/.test(environment)) return { [ENVIRONMENT_HEADER]: environment };
  throw invalid("environment", "is not the name of an environment");
}

function bodyText(fields: readonly (readonly [string, unknown])[]): string {
  try {
    // `Object.fromEntries` sets a field called __proto__ as any other.
    return JSON.stringify(Object.fromEntries(fields));
  } catch {
    throw invalid("arguments", "are nested too deep");
  }
}
