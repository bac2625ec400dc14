/** The current session. A dev server needs none. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./client.ts";
import type { Session } from "./types.ts";

const CHANGING_ROLES: ReadonlySet<string> = new Set(["owner", "admin", "ingest-admin"]);

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: () => call<Session>("/session"),
  staleTime: 60_000,
  retry: false,
});

/** Whether the Event API accepts any key. */
export function useIsDev(): boolean {
  return useQuery(sessionQuery).data?.mode === "dev";
}

/** Hides actions from read-only users. The service enforces the role. */
export function useMayChange(): boolean {
  const { data } = useQuery(sessionQuery);
  return data === undefined || CHANGING_ROLES.has(data.role ?? "");
}

/** Whether runs can be cancelled and rerun, and requests replayed. */
export function useMayRepair(): boolean {
  const { data } = useQuery(sessionQuery);
  return data === undefined || data.role === "operator" || CHANGING_ROLES.has(data.role ?? "");
}
