/** The banner over every page of an environment while alerts of it are raised. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { callForAll } from "../api/client.ts";
import { Notice } from "../ui/states.tsx";

interface RaisedAlert {
  id: string;
  name: string;
  function: string | null;
  raisedAt: string;
}

const REFRESH_MS = 15_000;

const alertsQuery = (env: string) =>
  queryOptions({
    queryKey: ["alerts", env],
    queryFn: () => callForAll<RaisedAlert>("/alerts", { env, query: { limit: 100 } }),
    refetchInterval: REFRESH_MS,
  });

export function AlertBanner({ env }: { env: string }) {
  const { data = [] } = useQuery(alertsQuery(env));
  if (data.length === 0) return null;
  return (
    <div className="main-notice" role="alert">
      <Notice kind="warn" icon="alert">
        {data.length === 1 ? "An alert is raised: " : `${data.length} alerts are raised: `}
        {data.map(({ name, function: functionId }) => (functionId === null ? name : `${name} (${functionId})`)).join(", ")}.
      </Notice>
    </div>
  );
}
