/** The webhooks of an environment with their status. Branch environments share one page. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { environmentsQuery, type WebhookHealth, webhookHealthQuery, webhooksQuery } from "../api/queries.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { SHARED } from "../shell/environment-names.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { UnroutedEvents } from "./unrouted-events.tsx";

export function WebhooksPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data: environments } = useQuery(environmentsQuery);
  const mayChange = useMayChangeIngestion();
  const isBranch = environments?.find(({ name }) => name === env)?.kind === "branch";
  return (
    <div className="page">
      <div className="page-head">
        <h1>{env === SHARED ? "Webhooks of all branches" : "Webhooks"}</h1>
        <div className="actions">
          <ExportList env={env} path="/webhooks" query={{}} name={`webhooks-${env}`} />
          {!isBranch && mayChange && (
            <Link to="/env/$env/webhooks/new" params={{ env }} className="button primary">
              <Icon name="plus" /> New webhook
            </Link>
          )}
        </div>
        <p>
          {env === SHARED
            ? "Shared by all branch environments. A request selects its branch with x-service-env, as a header or query parameter."
            : "A webhook has a URL for a provider and a transform that turns each request into an event."}
        </p>
      </div>
      {isBranch ? (
        <Notice kind="info" icon="branch">
          Branch environments share their webhooks.{" "}
          <Link to="/env/$env/webhooks" params={{ env: SHARED }}>
            View shared webhooks
          </Link>
        </Notice>
      ) : (
        <WebhookList env={env} />
      )}
      {env === SHARED && <UnroutedEvents />}
    </div>
  );
}

function WebhookList({ env }: { env: string }) {
  const { data, error, refetch } = useQuery(webhooksQuery(env));
  const { data: health = [] } = useQuery(webhookHealthQuery(env));
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} height={64} />;
  if (data.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="webhook" title="No webhooks yet">
          <p>
            Begin with a starter transform for Stripe, GitHub, Shopify and others, and test it on a payload before you give the URL to the
            provider.
          </p>
          <Link to="/env/$env/webhooks/new" params={{ env }} className="button primary">
            <Icon name="plus" /> New webhook
          </Link>
        </EmptyState>
      </div>
    );
  }
  return (
    <Table columns={["Name", "URL", "Health", "Last request", "Version"]} isStacked>
      {data.map((webhook) => (
        <WebhookRow key={webhook.id} env={env} webhook={webhook} health={health.find(({ id }) => id === webhook.id)} />
      ))}
    </Table>
  );
}

function WebhookRow({ env, webhook, health }: { env: string; webhook: Webhook; health: WebhookHealth | undefined }) {
  return (
    <tr>
      <td>
        <Link to="/env/$env/webhooks/$id" params={{ env, id: webhook.id }} className="strong">
          {webhook.name}
        </Link>
      </td>
      <td data-label="URL">
        <span className="row" style={{ gap: 4, minWidth: 0 }}>
          <code className="cut quiet" style={{ maxWidth: 420 }}>
            {webhook.url}
          </code>
          <CopyButton text={webhook.url} label={`Copy URL of ${webhook.name}`} />
        </span>
      </td>
      <td data-label="Health">
        <Health webhook={webhook} outcomes={health?.outcomes} />
      </td>
      <td data-label="Last request" className="second">
        <Time at={health?.lastRequestAt ?? null} relative />
      </td>
      <td data-label="Version" className="second num">
        v{webhook.version}
      </td>
    </tr>
  );
}

export function Health({ webhook, outcomes }: { webhook: Pick<Webhook, "enabled" | "state">; outcomes: string[] | undefined }) {
  if (!webhook.enabled) {
    return (
      <span className="badge">
        <Icon name="pause" size={13} /> Disabled
      </span>
    );
  }
  if (webhook.state === "waiting_for_secret") {
    return (
      <span className="badge warn">
        <Icon name="alert" size={13} /> Waiting for its secret
      </span>
    );
  }
  if (!outcomes || outcomes.length === 0) {
    return (
      <span className="badge">
        <Icon name="circleDashed" size={13} /> No requests yet
      </span>
    );
  }
  const refused = outcomes.filter((outcome) => outcome !== "accepted" && outcome !== "handshake").length;
  if (refused === 0) {
    return (
      <span className="badge ok">
        <Icon name="checkCircle" size={13} /> Accepting
      </span>
    );
  }
  return (
    <span className={`badge ${outcomes[0] === "accepted" ? "warn" : "bad"}`} title={`Of the last ${outcomes.length} requests`}>
      <Icon name="alert" size={13} /> {refused} of {outcomes.length} refused
    </span>
  );
}
