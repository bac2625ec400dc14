/** The current session. A dev server needs none. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { call } from "./client.ts";
import { environmentsQuery } from "./queries.ts";
import type { Session } from "./types.ts";

const SENDING_ROLES: ReadonlySet<string> = new Set(["owner", "admin"]);
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

/** Whether environments can be placed on several databases; false until that is known. */
export function useIsPostgres(): boolean {
  return useQuery(sessionQuery).data?.store === "postgres";
}

/** Whether old events are archived; false until that is known. */
export function useHasArchive(): boolean {
  return useQuery(sessionQuery).data?.archive === true;
}

/** The person's role in the environment of the page; undefined until it is known. */
function useRole(): string | undefined {
  const { data: session } = useQuery(sessionQuery);
  const { data: environments } = useQuery(environmentsQuery);
  const { env } = useParams({ strict: false });
  if (session === undefined) return undefined;
  return environments?.find(({ name }) => name === env)?.role ?? session.role ?? "";
}

/** Hides actions from read-only users. The service enforces the role. */
export function useMayChange(): boolean {
  const role = useRole();
  return role === undefined || CHANGING_ROLES.has(role);
}

/** Whether events can be erased: offered to admins only. */
export function useMayErase(): boolean {
  return SENDING_ROLES.has(useRole() ?? "");
}

/** Whether events can be sent and functions invoked. */
export function useMaySend(): boolean {
  const role = useRole();
  return role === undefined || SENDING_ROLES.has(role);
}

/** Whether runs can be cancelled and rerun, and requests replayed. */
export function useMayRepair(): boolean {
  const role = useRole();
  return role === undefined || role === "operator" || CHANGING_ROLES.has(role);
}

/** Whether the person has a role in every environment, as what concerns the installation requires. */
export function useIsUnrestricted(): boolean {
  return useQuery(sessionQuery).data?.environments == null;
}

/** Whether the person may create, change and archive environments, which concerns the installation. */
export function useMayManage(): boolean {
  const mayChange = useMayChange();
  return useIsUnrestricted() && mayChange;
}

/** Whether the person may see what all branch environments share. */
export function useSeesBranches(): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.environments == null || data.environments.includes("branch");
}
