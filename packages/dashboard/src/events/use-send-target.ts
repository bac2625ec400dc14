/** How to send an event to an environment from the dashboard. */

import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../api/queries.ts";
import { useIsDev } from "../api/session.ts";
import type { SendTarget } from "./snippets.ts";

export function useSendTarget(env: string): SendTarget {
  const isDev = useIsDev();
  const { data = [] } = useQuery(environmentsQuery);
  return { env, isDev, isDefault: data.find(({ name }) => name === env)?.kind === "default" };
}
