/** Who is looking: open to all in dev, a session in start. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiError, call, callForAll } from "./client.ts";
import type { Environment, Session } from "./types.ts";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => call<Session>("/session").catch(sessionWithoutRoute),
  staleTime: 60_000,
  retry: false,
});

/** TEMPORARY until the route exists. */
async function sessionWithoutRoute(error: unknown): Promise<Session> {
  if (!(error instanceof ApiError) || error.code !== "route_not_found") throw error;
  const all = await callForAll<Environment>("/environments");
  const name = all.find(({ kind }) => kind === "default")?.name ?? "dev";
  return {
    required: false,
    role: "admin",
    name: null,
    expiresAt: null,
    mode: name === "dev" ? "dev" : "start",
    version: "0.1.0",
    defaultEnvironment: name,
  };
}

/** True where a placeholder opens the Event API. */
export function useIsDev(): boolean {
  return useQuery(sessionQuery).data?.mode === "dev";
}

/** A reader may look at everything and change nothing; the service refuses, this spares the click. */
export function useMayChange(): boolean {
  const { data } = useQuery(sessionQuery);
  return data === undefined || data.role !== "read";
}
