/** Transforms of the webhook, which run in the sandbox. */

import type { Random } from "../random.ts";
import type { SimHook, TransformName } from "./deeds.ts";
import { SPAN_MS } from "./doing.ts";

/** What they return is the event that the request describes. */
const SOURCES: Readonly<Record<TransformName, string>> = {
  whole: "export default (evt) => evt;",
  counting: `let calls = 0;
const seen = [];
function transform(evt, headers) {
  seen.push(evt);
  calls++;
  return { ...evt, data: { ...evt.data, calls, seen: seen.length, type: headers["Content-Type"] } };
}`,
  awaiting: `async function transform(evt, headers, queryParams, raw) {
  const { name, id, data } = await Promise.resolve(JSON.parse(raw));
  return { name, id, data };
}`,
};
export const BROKEN_TRANSFORM = "function transform(evt) { return { name: evt.name, data: evt.payload.object }; }";
export const TRANSFORM_FAILED = "transform_failed";

export function generateTransform(random: Random): Pick<SimHook, "transform" | "brokenForMs"> {
  if (random.chance(0.4)) return {};
  const transform = random.pick(["whole", "counting", "awaiting"] as const);
  return { transform, ...(random.chance(0.4) && { brokenForMs: random.int(1, SPAN_MS / 3) }) };
}

/** The empty one is not run, see ../transforms.ts. */
export function sourceOf(name: TransformName | undefined): string {
  return name === undefined ? "" : SOURCES[name];
}
