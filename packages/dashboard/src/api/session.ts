/** Who is looking: open to all in dev, a session in start. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./client.ts";
import type { Session } from "./types.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => call<Session>("/session"),
  staleTime: 60_000,
  retry: false,
});

/** True where a placeholder opens the Event API. */
export function useIsDev(): boolean {
  return useQuery(sessionQuery).data?.mode === "dev";
}

/** A reader may look at everything and change nothing; the service refuses, this spares the click. */
export function useMayChange(): boolean {
  const { data } = useQuery(sessionQuery);
  return data === undefined || data.role !== "read";
}
