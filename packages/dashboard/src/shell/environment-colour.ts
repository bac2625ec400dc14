/** Gives each environment its own colour, the same for all users, so that it is recognised at a glance. */

import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../api/queries.ts";

/** Fixed colours: a warning colour for production, a calm one for dev, a neutral one for the shared branch scope. */
const KNOWN: Readonly<Record<string, string>> = {
  production: "light-dark(#d9480f, #ff8a4c)",
  dev: "light-dark(#0f766e, #2dd4bf)",
  branch: "light-dark(#6941c6, #a78bfa)",
};
const NEUTRAL = "var(--line-strong)";

/** Steps of the golden angle keep the hues of consecutive environments far apart, however many there are. */
const FIRST_HUE = 95;
const HUE_STEP = 137.508;

export function useEnvironmentColour(name: string): string {
  const { data = [] } = useQuery(environmentsQuery);
  if (KNOWN[name]) return KNOWN[name];
  // Ordered by age, including archived environments, so that a colour never changes.
  const index = data.toReversed().findIndex((environment) => environment.name === name);
  if (index < 0) return NEUTRAL;
  const hue = Math.round((FIRST_HUE + index * HUE_STEP) % 360);
  return `light-dark(oklch(0.55 0.16 ${hue}), oklch(0.76 0.14 ${hue}))`;
}
