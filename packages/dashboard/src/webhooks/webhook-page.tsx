/** One webhook: its URL, transform with tester, requests, versions, reconciliation, drill and settings. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { lastRequestQuery, webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { environmentTitle } from "../shell/environment-names.ts";
import { EnvironmentDot } from "../shell/environment-switcher.tsx";
import { PageTitle } from "../shell/page-title.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Crumbs, LeadTo } from "../ui/crumbs.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { toast } from "../ui/toasts.tsx";
import { DeleteWebhook } from "./delete-webhook.tsx";
import { DrillTab } from "./drill-tab.tsx";
import { FirstRequest } from "./first-request.tsx";
import { ReconcileTab } from "./reconcile-tab.tsx";
import { RequestsTab } from "./requests-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { TransformTab } from "./transform-tab.tsx";
import { VersionsTab } from "./versions-tab.tsx";
import { WEBHOOK_TABS, type WebhookTab } from "./webhook-search.ts";
import { Health } from "./webhooks-page.tsx";

const TITLES: Record<WebhookTab, string> = {
  transform: "Transform",
  requests: "Requests",
  versions: "Versions",
  reconcile: "Reconciliation",
  drill: "Drill",
  settings: "Settings",
};

export function WebhookPage() {
  const { env, id } = useParams({ from: "/env/$env/webhooks/$id" });
  const { tab = "transform" } = useSearch({ from: "/env/$env/webhooks/$id" });
  const [deletedId, setDeletedId] = useState<string | null>(null);
  const isDeleting = deletedId === id;
  const { data: webhook, error, refetch } = useQuery({ ...webhookQuery(id), enabled: !isDeleting });
  if (isUnavailable(error, webhook))
    return (
      <ErrorState
        error={error}
        title="This webhook could not be loaded"
        onRetry={() => void refetch()}
        lead={<LeadTo env={env} to="/env/$env/webhooks" list="Webhooks" />}
      />
    );
  if (!webhook) return <SkeletonRows />;
  return (
    <div className="page wide">
      <PageTitle text={webhook.name} />
      <Crumbs env={env} to="/env/$env/webhooks" list="Webhooks">
        {webhook.name}
      </Crumbs>
      <WebhookHead webhook={webhook} isDeleting={isDeleting} />
      <nav className="tabs" aria-label="Webhook sections">
        {WEBHOOK_TABS.map((name) => (
          <Link
            key={name}
            to="/env/$env/webhooks/$id"
            params={{ env, id }}
            search={{ tab: name }}
            className={`tab${name === tab ? " active" : ""}`}
            aria-current={name === tab ? "page" : undefined}
          >
            {TITLES[name]}
          </Link>
        ))}
      </nav>
      {tab === "transform" && <TransformTab key={webhook.id} webhook={webhook} />}
      {tab === "requests" && <RequestsTab env={env} webhook={webhook} />}
      {tab === "versions" && <VersionsTab webhook={webhook} />}
      {tab === "reconcile" && <ReconcileTab key={webhook.id} env={env} webhook={webhook} />}
      {tab === "drill" && <DrillTab env={env} webhook={webhook} />}
      {tab === "settings" && <SettingsTab key={webhook.id} webhook={webhook} onDelete={() => setDeletedId(id)} />}
      {isDeleting && <DeleteWebhook env={env} webhook={webhook} onClose={() => setDeletedId(null)} />}
    </div>
  );
}

function WebhookHead({ webhook, isDeleting }: { webhook: Webhook; isDeleting: boolean }) {
  const [rotating, setRotating] = useState(false);
  const { data: requests } = useQuery({ ...lastRequestQuery(webhook.id), enabled: !isDeleting });
  const mayChange = useMayChangeIngestion();
  return (
    <>
      <div className="page-head">
        <h1>{webhook.name}</h1>
        <Health webhook={webhook} outcomes={requests?.map(({ outcome }) => outcome)} />
        <span className="row quiet">
          <EnvironmentDot name={webhook.environment} /> {environmentTitle(webhook.environment)}
        </span>
      </div>
      <div className="url-box">
        <span className="badge plain">POST</span>
        <code className="cut grow">{webhook.url}</code>
        <CopyButton text={webhook.url} label="Copy URL" className="button small">
          Copy URL
        </CopyButton>
        {mayChange && (
          <button type="button" className="button small" onClick={() => setRotating(true)}>
            <Icon name="refresh" size={14} /> Rotate
          </button>
        )}
      </div>
      <FirstRequest key={webhook.id} requests={requests} />
      {rotating && <RotateDialog webhook={webhook} onClose={() => setRotating(false)} />}
    </>
  );
}

function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient();
  async function rotate() {
    const changed = await call<Webhook>(`/webhooks/${encodeURIComponent(webhook.id)}/rotate`, { method: "POST" });
    queries.setQueryData(webhookQuery(webhook.id).queryKey, changed);
    await reload(queries, ["webhooks"]);
    toast("ok", "The webhook has a new URL. Enter it at the provider.");
    onClose();
  }
  return (
    <FormDialog title="Rotate the URL?" submit="Rotate" danger onClose={onClose} onSubmit={rotate}>
      <p className="second">The webhook gets a new URL. Requests to the current URL are refused immediately, so update the provider.</p>
    </FormDialog>
  );
}
