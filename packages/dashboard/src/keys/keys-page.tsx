/** Keys: event and signing keys of the environment, API keys of the installation. A key is shown once, when it is created. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { environmentsQuery, keysQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useIsDev, useMayAdminister } from "../api/session.ts";
import type { Key } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { environmentTitle, SHARED } from "../shell/environment-names.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";
import { AcceptListText } from "./accept-list-field.tsx";
import { ChangeKeyDialog } from "./change-key-dialog.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { RoleRules } from "./role-rules.tsx";

const KINDS: { kind: Key["kind"]; title: string; text: string }[] = [
  {
    kind: "event",
    title: "Event keys",
    text: "Send events to this environment. Use one key per application. Several keys can be valid at once, for rotation.",
  },
  { kind: "api", title: "API keys", text: "Access the REST API and this dashboard, in all environments or in some." },
  {
    kind: "signing",
    title: "Signing keys",
    text: "The newest key of this environment signs calls to its functions. All listed keys are accepted.",
  },
];

export function KeysPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data: environments = [] } = useQuery(environmentsQuery);
  const { data, error, refetch } = useQuery(keysQuery(env));
  const isBranch = environments.find(({ name }) => name === env)?.kind === "branch";
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Keys</h1>
        <div className="actions">
          <ExportList env={env} path="/keys" query={{}} name={`keys-${env}`} />
        </div>
        <p>A key is shown once, when you create it. A lost key cannot be recovered, only replaced.</p>
      </div>
      {isBranch && (
        <Notice kind="info" icon="branch">
          Branch environments share their event and signing keys.{" "}
          <Link to="/env/$env/keys" params={{ env: SHARED }}>
            View shared keys
          </Link>
        </Notice>
      )}
      {KINDS.filter(({ kind }) => !isBranch || kind === "api").map((section) => (
        <KeySection
          key={section.kind}
          env={env}
          {...section}
          keys={data?.filter(({ kind, revokedAt }) => kind === section.kind && revokedAt === null)}
        />
      ))}
      <RoleRules env={env} />
    </div>
  );
}

interface KeySectionProps {
  env: string;
  kind: Key["kind"];
  title: string;
  text: string;
  keys: Key[] | undefined;
}

function KeySection({ env, kind, title, text, keys }: KeySectionProps) {
  const [creating, setCreating] = useState(false);
  const mayAdminister = useMayAdminister();
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <div className="grow">
          <h2>
            {title} {kind !== "api" && <span className="quiet">of {environmentTitle(env)}</span>}
          </h2>
          <p className="quiet small">{text}</p>
        </div>
        {mayAdminister && (
          <button type="button" className="button small" onClick={() => setCreating(true)}>
            <Icon name="plus" size={14} /> New {kind === "api" ? "API" : kind} key
          </button>
        )}
      </div>
      {keys === undefined ? (
        <SkeletonRows rows={2} />
      ) : keys.length === 0 ? (
        <p className="card-body quiet">None yet.{kind === "event" && <EventKeyHint env={env} />}</p>
      ) : (
        <KeyTable env={env} kind={kind} keys={keys} />
      )}
      {creating && <CreateKeyDialog env={env} kind={kind} onClose={() => setCreating(false)} />}
    </section>
  );
}

function EventKeyHint({ env }: { env: string }) {
  const isDev = useIsDev();
  if (isDev && env !== SHARED) return <> A dev server accepts any key. Create one to test its lists.</>;
  return <> Sending events requires a key.</>;
}

const NAME: Column = { title: "Name", width: "24%" };
const PREFIX: Column = { title: "Prefix", width: "16%" };
const CREATED: Column = { title: "Created", width: "18%" };
const COLUMNS: Record<Key["kind"], (string | Column)[]> = {
  event: [NAME, PREFIX, CREATED, "Allows", ACTIONS],
  api: [NAME, PREFIX, CREATED, "Role", "Environments", ACTIONS],
  signing: [NAME, PREFIX, CREATED, "Environment", ACTIONS],
};

function KeyTable({ env, kind, keys }: { env: string; kind: Key["kind"]; keys: Key[] }) {
  const [revoking, setRevoking] = useState<Key | null>(null);
  const [changing, setChanging] = useState<Key | null>(null);
  const mayAdminister = useMayAdminister();
  return (
    <>
      <Table columns={COLUMNS[kind]} isFramed isStacked>
        {keys.map((key) => (
          <tr key={key.id}>
            <td className="strong">{key.name}</td>
            <td data-label="Prefix">
              <code>{key.prefix}…</code>
            </td>
            <td data-label="Created" className="second">
              <Time at={key.createdAt} />
            </td>
            {kind === "api" && (
              <>
                <td data-label="Role" className="second">
                  {key.role}
                </td>
                <td data-label="Environments" className="second long">
                  {key.environments?.join(", ") ?? "all"}
                </td>
              </>
            )}
            {kind === "signing" && (
              <td data-label="Environment" className="second">
                {key.environment === null ? "all" : environmentTitle(key.environment ?? env)}
              </td>
            )}
            {kind === "event" && (
              <td data-label="Allows" className="second">
                <AcceptListText eventNames={key.eventNames ?? null} ips={key.ips ?? null} />
              </td>
            )}
            <td className="right">
              {mayAdminister && (
                <div className="row row-actions">
                  <button type="button" className="button small" onClick={() => setChanging(key)}>
                    Change<span className="visually-hidden"> {key.name}</span>
                  </button>
                  <button type="button" className="button small danger" onClick={() => setRevoking(key)}>
                    Revoke<span className="visually-hidden"> {key.name}</span>
                  </button>
                </div>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {changing && <ChangeKeyDialog env={env} changed={changing} onClose={() => setChanging(null)} />}
      {revoking && <RevokeDialog env={env} revoked={revoking} onClose={() => setRevoking(null)} />}
    </>
  );
}

function RevokeDialog({ env, revoked, onClose }: { env: string; revoked: Key; onClose: () => void }) {
  const queries = useQueryClient();
  async function revoke() {
    await call(`/keys/${encodeURIComponent(revoked.id)}`, { method: "DELETE", env });
    await reload(queries, ["keys"]);
    toast("ok", `${revoked.name} revoked.`);
    onClose();
  }
  return (
    <FormDialog title={`Revoke ${revoked.name}?`} submit="Revoke" danger onClose={onClose} onSubmit={revoke}>
      <p className="second">
        Requests with <code>{revoked.prefix}…</code> are refused immediately. This cannot be undone.
      </p>
    </FormDialog>
  );
}
