/** Each environment has a colour of its own, the same for everybody, so that one sees at a glance where one is. */

import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../api/queries.ts";

/** Production asks for care, dev does not. The shared scope of the branches has the colour of none of them. */
const KNOWN: Readonly<Record<string, string>> = {
  production: "light-dark(#d9480f, #ff8a4c)",
  dev: "light-dark(#0f766e, #2dd4bf)",
  branch: "light-dark(#6941c6, #a78bfa)",
};
const NEUTRAL = "var(--line-strong)";

/** Steps of the golden angle: however many there are, neighbours in age are far apart in hue. */
const FIRST_HUE = 95;
const HUE_STEP = 137.508;

export function useEnvironmentColour(name: string): string {
  const { data = [] } = useQuery(environmentsQuery);
  if (KNOWN[name]) return KNOWN[name];
  // By age, archived ones included, so that a colour stays for good.
  const place = data.toReversed().findIndex((environment) => environment.name === name);
  if (place < 0) return NEUTRAL;
  const hue = Math.round((FIRST_HUE + place * HUE_STEP) % 360);
  return `light-dark(oklch(0.55 0.16 ${hue}), oklch(0.76 0.14 ${hue}))`;
}
