/** Apps: URL, functions, last sync and sync errors. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { appsQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayAdminister, useMayRepair } from "../api/session.ts";
import type { AppItem } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { CodeBlock } from "../ui/copy.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { EmptyState, ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { toast, withToast } from "../ui/toasts.tsx";

export function AppsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const [syncing, setSyncing] = useState(false);
  const mayRepair = useMayRepair();
  return (
    <div className="page">
      <div className="page-head">
        <h1>Apps</h1>
        <div className="actions">
          <ExportList env={env} path="/apps" query={{}} name={`apps-${env}`} />
          {mayRepair && (
            <button type="button" className="button primary" onClick={() => setSyncing(true)}>
              <Icon name="plus" /> Sync an app
            </button>
          )}
        </div>
        <p>An app serves functions at one URL. Syncing registers its functions.</p>
      </div>
      <AppList env={env} />
      {syncing && <SyncDialog env={env} onClose={() => setSyncing(false)} />}
    </div>
  );
}

const SERVE_EXAMPLE = [
  'import { createServer } from "node:http";',
  'import { Inlet } from "@inlet/sdk";',
  'import { serve } from "@inlet/sdk/node";',
  "",
  'const inlet = new Inlet({ id: "shop" });',
  'const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {',
  '  await step.run("label", () => buyLabel(event.data.orderId));',
  "});",
  "createServer(serve({ client: inlet, functions: [ship] })).listen(3000);",
].join("\n");

function AppList({ env }: { env: string }) {
  const { data, error, refetch } = useQuery({ ...appsQuery(env), refetchInterval: 5_000 });
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={3} height={90} />;
  if (data.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="app" title="No apps yet">
          <p>Serve functions over HTTP, then sync the app by its URL. A dev server also discovers apps on the usual local ports.</p>
          <CodeBlock text={SERVE_EXAMPLE} label="Copy example" />
        </EmptyState>
      </div>
    );
  }
  return (
    <div className="stack">
      {data.map((app) => (
        <AppCard key={app.id} env={env} app={app} />
      ))}
    </div>
  );
}

function AppCard({ env, app }: { env: string; app: AppItem }) {
  const [removing, setRemoving] = useState(false);
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  const mayAdminister = useMayAdminister();
  async function sync() {
    await withToast(
      call<AppItem>("/apps", { method: "POST", env, body: { url: app.url } }),
      ({ name, functions }) => `${name} synced: ${plural(functions, "function")}.`,
    );
    await Promise.all([reload(queries, ["apps"]), reload(queries, ["functions"])]);
  }
  return (
    <section className="card" aria-label={app.name}>
      <div className="card-head">
        <h2>{app.name}</h2>
        {app.error ? (
          <span className="badge bad">
            <Icon name="xCircle" size={13} /> Sync failed
          </span>
        ) : (
          <span className="badge ok">
            <Icon name="checkCircle" size={13} /> Synced
          </span>
        )}
        <span className="grow" />
        {mayRepair && (
          <button type="button" className="button small" onClick={() => void sync()}>
            <Icon name="refresh" size={14} /> Sync again
          </button>
        )}
        {mayAdminister && (
          <button type="button" className="button small danger" onClick={() => setRemoving(true)}>
            <Icon name="trash" size={14} /> Remove
          </button>
        )}
      </div>
      <div className="card-body stack">
        {app.error && (
          <Notice kind="bad" icon="alert">
            {app.error}
            <br />
            Check that the app runs and serves its functions at this URL, then sync again. Its last registration stays active.
          </Notice>
        )}
        <dl className="fact-strip">
          <div>
            <dt>URL</dt>
            <dd className="mono">{app.url}</dd>
          </div>
          <div>
            <dt>Functions</dt>
            <dd className="num">{app.functions}</dd>
          </div>
          <div>
            <dt>SDK</dt>
            <dd>{[app.sdk, app.framework].filter(Boolean).join(" · ") || "unknown"}</dd>
          </div>
          <div>
            <dt>Synced</dt>
            <dd>
              <Time at={app.syncedAt} relative />
            </dd>
          </div>
        </dl>
      </div>
      {removing && <RemoveDialog env={env} app={app} onClose={() => setRemoving(false)} />}
    </section>
  );
}

function SyncDialog({ env, onClose }: { env: string; onClose: () => void }) {
  const [url, setUrl] = useState("http://localhost:3000/api/inlet");
  const queries = useQueryClient();
  async function sync() {
    const { name, functions } = await call<AppItem>("/apps", { method: "POST", env, body: { url: url.trim() } });
    await Promise.all([reload(queries, ["apps"]), reload(queries, ["functions"])]);
    toast("ok", `${name} synced: ${plural(functions, "function")}.`);
    onClose();
  }
  return (
    <FormDialog title="Sync an app" submit="Sync" onClose={onClose} onSubmit={sync}>
      <label className="field">
        <span>URL of the app's endpoint</span>
        <input className="input mono" type="url" required value={url} onChange={({ target }) => setUrl(target.value)} />
        <small>The URL that serves the functions. The service must be able to reach it.</small>
      </label>
    </FormDialog>
  );
}

function RemoveDialog({ env, app, onClose }: { env: string; app: AppItem; onClose: () => void }) {
  const queries = useQueryClient();
  async function remove() {
    await call(`/apps/${encodeURIComponent(app.id)}`, { method: "DELETE", env });
    await Promise.all([reload(queries, ["apps"]), reload(queries, ["functions"])]);
    toast("ok", `${app.name} removed.`);
    onClose();
  }
  return (
    <FormDialog title={`Remove ${app.name}?`} submit="Remove" danger onClose={onClose} onSubmit={remove}>
      <p className="second">Its functions start no new runs. Existing runs remain visible. To restore the functions, sync the app again.</p>
    </FormDialog>
  );
}
