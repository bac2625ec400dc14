/** Shows a page only if its environment exists; otherwise, the environments that do. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { environmentsQuery } from "../api/queries.ts";
import { EmptyState } from "../ui/states.tsx";
import { SHARED } from "./environment-names.ts";

const LED_TO_MAX = 5;

export function ExistingEnvironment({ env, children }: { env: string; children: ReactNode }) {
  const { data } = useQuery(environmentsQuery);
  if (!data || env === SHARED || data.some(({ name }) => name === env)) return children;
  const others = data.filter(({ archivedAt }) => archivedAt === null).slice(0, LED_TO_MAX);
  return (
    <EmptyState icon="layers" title={`There is no environment "${env}"`} isPage>
      <div className="row wrap">
        {others.map(({ name }) => (
          <Link key={name} to="/env/$env" params={{ env: name }} className="button">
            Go to {name}
          </Link>
        ))}
      </div>
    </EmptyState>
  );
}
