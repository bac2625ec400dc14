/** Environments: list, create, archive and unarchive. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { environmentsQuery } from "../api/queries.ts";
import { useIsUnrestricted, useMayChange } from "../api/session.ts";
import type { Environment, EnvironmentKind, Key } from "../api/types.ts";
import { ShownKey } from "../keys/create-key-dialog.tsx";
import { SHARED } from "../shell/environment-names.ts";
import { EnvironmentDot } from "../shell/environment-switcher.tsx";
import { Dialog, FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { bytes } from "../ui/numbers.ts";
import { EmptyState, ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { EnvironmentSettings } from "./environment-settings.tsx";
import { EnvironmentUsage } from "./environment-usage.tsx";

export function EnvironmentsPage() {
  const { data, error, refetch } = useQuery(environmentsQuery);
  const [creating, setCreating] = useState<EnvironmentKind | null>(null);
  const mayChange = useMayManage();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const all = data?.toReversed() ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Environments</h1>
        {mayChange && (
          <div className="actions">
            <button type="button" className="button" onClick={() => setCreating("custom")}>
              <Icon name="plus" /> Custom environment
            </button>
            <button type="button" className="button primary" onClick={() => setCreating("branch")}>
              <Icon name="branch" /> Branch environment
            </button>
          </div>
        )}
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
        </>
      )}
      {creating && <CreateDialog kind={creating} onClose={() => setCreating(null)} />}
    </div>
  );
}

/** Creating and archiving environments concerns the installation. */
function useMayManage(): boolean {
  const mayChange = useMayChange();
  return useIsUnrestricted() && mayChange;
}

const COLUMNS: (string | Column)[] = [
  { title: "Name", width: "26%" },
  { title: "Kind", width: "10%" },
  { title: "Body limit", width: "14%" },
  { title: "Events kept", width: "14%" },
  { title: "Created", width: "12%" },
  "State",
  ACTIONS,
];

function EnvironmentTable({ title, environments }: { title?: string; environments: Environment[] }) {
  return (
    <section className="stack" aria-label={title ?? "Branch environments"}>
      {title && <h2>{title}</h2>}
      <Table columns={COLUMNS} isStacked>
        {environments.map((environment) => (
          <EnvironmentRow key={environment.name} environment={environment} />
        ))}
      </Table>
    </section>
  );
}

function EnvironmentRow({ environment }: { environment: Environment }) {
  const { name, kind, createdAt, archivedAt, bodyLimitBytes, retention } = environment;
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

function CreateDialog({ kind, onClose }: { kind: EnvironmentKind; onClose: () => void }) {
  const [name, setName] = useState("");
  const [keys, setKeys] = useState<Key[] | null>(null);
  const queries = useQueryClient();
  if (keys) return <FirstKeysDialog environment={name.trim()} keys={keys} onClose={onClose} />;
  async function create() {
    const created = await call<{ keys?: Key[] }>("/environments", { method: "POST", body: { name: name.trim(), kind } });
    await queries.invalidateQueries({ queryKey: ["environments"] });
    toast("ok", `${name.trim()} created.`);
    if (created.keys) setKeys(created.keys);
    else onClose();
  }
  return (
    <FormDialog
      title={kind === "branch" ? "New branch environment" : "New custom environment"}
      submit="Create"
      onClose={onClose}
      onSubmit={create}
    >
      <label className="field">
        <span>Name</span>
        <input
          className="input mono"
          required
          value={name}
          placeholder={kind === "branch" ? "feature/cart" : "staging"}
          onChange={({ target }) => setName(target.value)}
        />
        <small>Letters, digits and . _ - /</small>
      </label>
    </FormDialog>
  );
}

/** The keys that a custom environment is created with. */
function FirstKeysDialog({ environment, keys, onClose }: { environment: string; keys: Key[]; onClose: () => void }) {
  return (
    <Dialog title={`Keys of ${environment}`} onClose={onClose}>
      <Notice kind="warn" icon="alert">
        Copy the keys now. They are shown only once.
      </Notice>
      {keys.map((key) => (
        <ShownKey key={key.id} shown={key} />
      ))}
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          I have copied them
        </button>
      </div>
    </Dialog>
  );
}
