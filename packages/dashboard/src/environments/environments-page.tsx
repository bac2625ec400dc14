/** Environments: list, create, archive and unarchive. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { environmentsQuery } from "../api/queries.ts";
import { useIsUnrestricted, useMayChange } from "../api/session.ts";
import type { Environment, EnvironmentKind } from "../api/types.ts";
import { ExportList } from "../lists/export-list.tsx";
import { SHARED } from "../shell/environment-names.ts";
import { EnvironmentDot } from "../shell/environment-switcher.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { bytes } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { CreateEnvironment } from "./create-environment.tsx";
import { DatabasesSection, useDatabases } from "./databases-section.tsx";
import { EnvironmentSettings } from "./environment-settings.tsx";
import { EnvironmentUsage } from "./environment-usage.tsx";
import { MoveEnvironment } from "./move-environment.tsx";

export function EnvironmentsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data, error, refetch } = useQuery(environmentsQuery);
  const [creating, setCreating] = useState<EnvironmentKind | null>(null);
  const mayChange = useMayManage();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
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
          <section className="stack" aria-label="Branches">
            <div className="row">
              <h2 className="grow">Branches</h2>
              <Link to="/env/$env/webhooks" params={{ env: SHARED }}>
                Shared webhooks
              </Link>
              <Link to="/env/$env/keys" params={{ env: SHARED }}>
                Shared keys
              </Link>
            </div>
            {all.some(({ kind }) => kind === "branch") ? (
              <EnvironmentTable environments={all.filter(({ kind }) => kind === "branch")} />
            ) : (
              <div className="card">
                <EmptyState icon="branch" title="No branch environments">
                  <p>
                    Create one per branch: here, with the REST API, or by syncing an app with its name. Send events to it with a shared key
                    and the header <code>x-service-env: feature/cart</code>.
                  </p>
                </EmptyState>
              </div>
            )}
          </section>
          <DatabasesSection mayChange={mayChange} />
        </>
      )}
      {creating && <CreateEnvironment kind={creating} onClose={() => setCreating(null)} />}
    </div>
  );
}

/** Creating and archiving environments concerns the installation. */
function useMayManage(): boolean {
  const mayChange = useMayChange();
  return useIsUnrestricted() && mayChange;
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

function EnvironmentRow({ environment, isPlaced }: { environment: Environment; isPlaced: boolean }) {
  const { name, kind, createdAt, archivedAt, bodyLimitBytes, retention, database } = environment;
  const [isEditing, setEditing] = useState(false);
  const [isMeasuring, setMeasuring] = useState(false);
  const { env } = useParams({ from: "/env/$env" });
  const queries = useQueryClient();
  const mayChange = useMayManage();
  const [isArchiving, setArchiving] = useState(false);
  const act = (what: "archive" | "unarchive") => call(`/environments/${encodeURIComponent(name)}/${what}`, { method: "POST" });
  const refresh = () => queries.invalidateQueries({ queryKey: ["environments"] });
  async function archive() {
    await act("archive");
    toast("ok", `${name} archived. It keeps its events and runs no functions.`);
    setArchiving(false);
    await refresh();
  }
  async function unarchive() {
    await withToast(act("unarchive"), `${name} is active again.`);
    await refresh();
  }
  return (
    <tr>
      <td>
        <Link to="/env/$env" params={{ env: name }} className="row strong">
          <EnvironmentDot name={name} /> <span className="cut">{name}</span>
          {name === env && <span className="badge plain">current</span>}
        </Link>
      </td>
      <td data-label="Kind" className="second">
        {kind}
      </td>
      {isPlaced && (
        <td data-label="Database" className="second long">
          {database}
        </td>
      )}
      <td data-label="Body limit" className="second num">
        {bodyLimitBytes === null ? "service default" : bytes(bodyLimitBytes)}
      </td>
      <td data-label="Events kept" className="second num">
        {retention.events ?? "service default"}
      </td>
      <td data-label="Created" className="second">
        <Time at={createdAt} />
      </td>
      <td data-label="State">
        {archivedAt ? (
          <span className="badge">
            <Icon name="slash" size={13} /> Archived
          </span>
        ) : (
          <span className="badge ok">
            <Icon name="checkCircle" size={13} /> Active
          </span>
        )}
      </td>
      <td className="right">
        <button type="button" className="button small" onClick={() => setMeasuring(true)}>
          Usage<span className="visually-hidden"> of {name}</span>
        </button>{" "}
        {isMeasuring && <EnvironmentUsage name={name} mayChange={mayChange} onClose={() => setMeasuring(false)} />}
        {mayChange && (
          <button type="button" className="button small" onClick={() => setEditing(true)}>
            Settings<span className="visually-hidden"> of {name}</span>
          </button>
        )}{" "}
        {isEditing && <EnvironmentSettings environment={environment} onClose={() => setEditing(false)} />}
        {isPlaced && mayChange && kind !== "branch" && <MoveEnvironment environment={environment} />}{" "}
        {kind !== "default" && mayChange && (
          <button type="button" className="button small" onClick={() => (archivedAt ? void unarchive() : setArchiving(true))}>
            {archivedAt ? "Unarchive" : "Archive"}
            <span className="visually-hidden"> {name}</span>
          </button>
        )}
        {isArchiving && (
          <FormDialog title={`Archive ${name}?`} submit="Archive" danger onClose={() => setArchiving(false)} onSubmit={archive}>
            <p className="second">It accepts no events and runs no functions until it is unarchived. Its events and runs are kept.</p>
          </FormDialog>
        )}
      </td>
    </tr>
  );
}
