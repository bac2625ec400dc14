/** The banner on every page of an environment that has raised alerts. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { alertsQuery } from "../api/alerts.ts";
import { Notice } from "../ui/states.tsx";

/** More are on the page of the alerts. */
const NAMED_MAX = 3;

export function AlertBanner({ env }: { env: string }) {
  const { data = [] } = useQuery(alertsQuery(env));
  if (data.length === 0) return null;
  const named = data.slice(0, NAMED_MAX).map(({ name, function: functionId }) => (functionId === null ? name : `${name} (${functionId})`));
  const others = data.length - named.length;
  return (
    <div className="main-notice" role="alert">
      <Notice kind="warn" icon="alert">
        {data.length === 1 ? "An alert is raised: " : `${data.length} alerts are raised: `}
        {named.join(", ")}
        {others > 0 && ` and ${others} more`}.{" "}
        <Link to="/env/$env/alerts" params={{ env }}>
          Show alerts
        </Link>
      </Notice>
    </div>
  );
}
