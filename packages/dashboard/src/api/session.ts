/** The current session. A dev server needs none. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { call } from "./client.ts";
import { environmentsQuery } from "./queries.ts";
import type { Session } from "./types.ts";

const ADMINISTERING: ReadonlySet<string> = new Set(["owner", "admin"]);
/** The roles that may call the routes marked `ingest`, `repair`, or both. */
const INGESTING: ReadonlySet<string> = new Set([...ADMINISTERING, "ingest-admin"]);
const REPAIRING: ReadonlySet<string> = new Set([...ADMINISTERING, "operator"]);
const INGESTING_OR_REPAIRING: ReadonlySet<string> = new Set([...INGESTING, ...REPAIRING]);

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

/** Hides actions from those who may not do them. The service enforces the role. */
function useHasRole(roles: ReadonlySet<string>): boolean {
  const role = useRole();
  return role === undefined || roles.has(role);
}

/** Whether what only admins may change can be changed, such as keys and apps. */
export function useMayAdminister(): boolean {
  return useHasRole(ADMINISTERING);
}

/** Whether events can be erased: offered to admins only. */
export function useMayErase(): boolean {
  return ADMINISTERING.has(useRole() ?? "");
}

/** Whether events can be sent and functions invoked. */
export function useMaySend(): boolean {
  return useHasRole(ADMINISTERING);
}

/** Whether webhooks and the schemas of event types can be changed. */
export function useMayChangeIngestion(): boolean {
  return useHasRole(INGESTING);
}

/** Whether runs can be cancelled and rerun, jobs created, and apps synced. */
export function useMayRepair(): boolean {
  return useHasRole(REPAIRING);
}

/** Whether requests of webhooks can be replayed, reconciled and drilled. */
export function useMayRepairWebhooks(): boolean {
  return useHasRole(INGESTING_OR_REPAIRING);
}

/** Whether the person has a role in every environment, as what concerns the installation requires. */
export function useIsUnrestricted(): boolean {
  return useQuery(sessionQuery).data?.environments == null;
}

/** Whether the person may create, change and archive environments, which concerns the installation. */
export function useMayManage(): boolean {
  const mayAdminister = useMayAdminister();
  return useIsUnrestricted() && mayAdminister;
}

/** Whether the person may see what all branch environments share. */
export function useSeesBranches(): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.environments == null || data.environments.includes("branch");
}
