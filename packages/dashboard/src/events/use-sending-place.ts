/** What it takes to send an event to an environment from here. */

import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../api/queries.ts";
import { useIsDev } from "../api/session.ts";
import type { SendingPlace } from "./snippets.ts";

export function useSendingPlace(env: string): SendingPlace {
  const isDev = useIsDev();
  const { data = [] } = useQuery(environmentsQuery);
  return { env, isDev, isDefault: data.find(({ name }) => name === env)?.kind === "default" };
}
