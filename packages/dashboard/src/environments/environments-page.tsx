/** Environments: list, create, archive and unarchive. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { environmentsQuery } from "../api/queries.ts";
import { useMayManage, useSeesBranches } from "../api/session.ts";
import type { Environment, EnvironmentKind } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { SHARED } from "../shell/environment-names.ts";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, type Column, Table } from "../ui/table.tsx";
import { CreateEnvironment } from "./create-environment.tsx";
import { DatabasesSection, useDatabases } from "./databases-section.tsx";
import { EnvironmentRow } from "./environment-row.tsx";

export function EnvironmentsPage() {
  const { env } = useParams({ from: "/env/$env" });
  // Jobs move environments, and others archive them.
  const { data, error, refetch } = useQuery({ ...environmentsQuery, refetchInterval: 10_000 });
  const [creating, setCreating] = useState<EnvironmentKind | null>(null);
  const mayChange = useMayManage();
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const all = data?.toReversed() ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Environments</h1>
        <div className="actions">
          <ExportList env={env} path="/environments" query={{}} name="environments" />
          {mayChange && (
            <>
              <button type="button" className="button" onClick={() => setCreating("custom")}>
                <Icon name="plus" /> Custom environment
              </button>
              <button type="button" className="button primary" onClick={() => setCreating("branch")}>
                <Icon name="branch" /> Branch environment
              </button>
            </>
          )}
        </div>
        <p>Environments are isolated: each has its own events, functions and runs. Branch environments share keys and webhooks.</p>
      </div>
      {data === undefined ? (
        <SkeletonRows rows={4} />
      ) : (
        <>
          <EnvironmentTable title="Permanent" environments={all.filter(({ kind }) => kind !== "branch")} />
          <Branches environments={all.filter(({ kind }) => kind === "branch")} />
          <DatabasesSection mayChange={mayChange} />
        </>
      )}
      {creating && <CreateEnvironment kind={creating} onClose={() => setCreating(null)} />}
    </div>
  );
}

/** What all branches share is for those who may use it. */
function Branches({ environments }: { environments: Environment[] }) {
  const seesBranches = useSeesBranches();
  if (!seesBranches && environments.length === 0) return null;
  return (
    <section className="stack" aria-label="Branches">
      <div className="row">
        <h2 className="grow">Branches</h2>
        {seesBranches && (
          <>
            <Link to="/env/$env/webhooks" params={{ env: SHARED }}>
              Shared webhooks
            </Link>
            <Link to="/env/$env/keys" params={{ env: SHARED }}>
              Shared keys
            </Link>
          </>
        )}
      </div>
      {environments.length > 0 ? (
        <EnvironmentTable environments={environments} />
      ) : (
        <div className="card">
          <EmptyState icon="branch" title="No branch environments">
            <p>
              Create one per branch: here, with the REST API, or by syncing an app with its name. Send events to it with a shared key and
              the header <code>x-service-env: feature/cart</code>.
            </p>
          </EmptyState>
        </div>
      )}
    </section>
  );
}

/** Where an environment is placed is shown once there is a choice. */
const columnsFor = (isPlaced: boolean): (string | Column)[] => [
  { title: "Name", width: isPlaced ? "22%" : "26%" },
  { title: "Kind", width: "10%" },
  ...(isPlaced ? [{ title: "Database", width: "12%" }] : []),
  { title: "Body limit", width: isPlaced ? "11%" : "14%" },
  { title: "Events kept", width: isPlaced ? "11%" : "14%" },
  { title: "Created", width: isPlaced ? "10%" : "12%" },
  "State",
  ACTIONS,
];

function EnvironmentTable({ title, environments }: { title?: string; environments: Environment[] }) {
  const isPlaced = useDatabases().length > 1;
  return (
    <section className="stack" aria-label={title ?? "Branch environments"}>
      {title && <h2>{title}</h2>}
      <Table columns={columnsFor(isPlaced)} isStacked>
        {environments.map((environment) => (
          <EnvironmentRow key={environment.name} environment={environment} isPlaced={isPlaced} />
        ))}
      </Table>
    </section>
  );
}
