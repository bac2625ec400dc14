/** All requests of the webhook, accepted and refused, with their outcome. Each can be replayed. */

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { UsualRhythm } from "../alerts/usual-rhythm.tsx";
import { call } from "../api/client.ts";
import { readJsonText } from "../api/json-text.ts";
import { requestQuery, requestsQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { webhookRhythmQuery } from "../api/rhythm.ts";
import { useMayRepairWebhooks } from "../api/session.ts";
import type { Webhook, WebhookRequest } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { CodeBlock } from "../ui/copy.tsx";
import { Icon } from "../ui/icon.tsx";
import { bytes } from "../ui/numbers.ts";
import { Payload } from "../ui/payload.tsx";
import { EmptyState, ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { duration, Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";
import { RequestFilters } from "./request-filters.tsx";
import { RequestsChart } from "./requests-chart.tsx";
import { type RequestSearch, requestSearch } from "./webhook-search.ts";

export function RequestsTab({ env, webhook }: { env: string; webhook: Webhook }) {
  const { request: openId, ...search } = useSearch({ from: "/env/$env/webhooks/$id" });
  const filters = requestSearch({ ...search });
  const navigate = useNavigate({ from: "/env/$env/webhooks/$id" });
  const requests = useInfiniteQuery(requestsQuery(webhook.id, { ...filters }));
  const filter = (changed: RequestSearch) => void navigate({ search: { tab: "requests", ...requestSearch({ ...changed }) } });
  const open = (id: string | undefined) =>
    void navigate({ search: { tab: "requests", ...filters, ...(id && { request: id }) }, replace: true });
  const items = requests.data?.pages.flatMap((page) => page.items) ?? [];
  const isOlder = openId !== undefined && !requests.isPending && !items.some(({ id }) => id === openId);
  const { hasNextPage, isFetching, fetchNextPage } = requests;
  // A page may contain no request that matches although older pages do.
  const isSearching = items.length === 0 && hasNextPage;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return (
    <div className="stack">
      <RequestsChart webhookId={webhook.id} from={filters.from} to={filters.to} onRange={(from, to) => filter({ ...filters, from, to })} />
      <UsualRhythm query={webhookRhythmQuery(webhook.id)} />
      <RequestFilters webhook={webhook} search={filters} onChange={filter} />
      {isOlder && <OlderRequest key={openId} env={env} webhook={webhook} id={openId} onOpen={open} />}
      {requests.isPending || isSearching ? (
        <SkeletonRows rows={6} />
      ) : isUnavailable(requests.error, requests.data) ? (
        <ErrorState error={requests.error} onRetry={() => void requests.refetch()} />
      ) : items.length === 0 ? (
        <NoRequests webhook={webhook} filtered={Object.keys(filters).length > 0} />
      ) : (
        <ul className="run-list">
          {items.map((request) => (
            <RequestItem key={request.id} env={env} webhook={webhook} request={request} isOpen={request.id === openId} onOpen={open} />
          ))}
        </ul>
      )}
      {requests.isFetchNextPageError && (
        <ErrorState error={requests.error} title="Older requests could not be loaded" onRetry={() => void requests.fetchNextPage()} />
      )}
      {hasNextPage && !isSearching && (
        <div>
          <button type="button" className="button" disabled={requests.isFetchingNextPage} onClick={() => void requests.fetchNextPage()}>
            Older requests
          </button>
        </div>
      )}
    </div>
  );
}

function NoRequests({ webhook, filtered }: { webhook: Webhook; filtered: boolean }) {
  if (filtered) return <EmptyState icon="search" title="No requests match these filters" />;
  const command = `curl -X POST "${webhook.url}" \\\n  -H 'content-type: application/json' \\\n  -d '{"type":"test","id":"1"}'`;
  return (
    <div className="card">
      <EmptyState icon="webhook" title="No requests yet">
        <p>Give the URL to the provider, or send a test request.</p>
        <CodeBlock text={command} label="Copy command" />
      </EmptyState>
    </div>
  );
}

interface OlderRequestProps {
  env: string;
  webhook: Webhook;
  id: string;
  onOpen: (id: string | undefined) => void;
}

/** The open request if it is not among those loaded: it was opened by its id, or newer ones came. It stands above the list. */
function OlderRequest({ env, webhook, id, onOpen }: OlderRequestProps) {
  const { data: request, error, refetch } = useQuery(requestQuery(webhook.id, id));
  if (isUnavailable(error, request))
    return <ErrorState error={error} title="This request could not be loaded" onRetry={() => void refetch()} />;
  if (!request) return <SkeletonRows rows={1} />;
  return (
    <ul className="run-list">
      <RequestItem env={env} webhook={webhook} request={request} isOpen onOpen={onOpen} />
    </ul>
  );
}

interface RequestItemProps {
  env: string;
  webhook: Webhook;
  request: WebhookRequest;
  isOpen: boolean;
  onOpen: (id: string | undefined) => void;
}

function RequestItem({ env, webhook, request, isOpen, onOpen }: RequestItemProps) {
  const accepted = request.outcome === "accepted";
  return (
    <li>
      <button
        type="button"
        className="run-line version-line"
        aria-expanded={isOpen}
        onClick={() => onOpen(isOpen ? undefined : request.id)}
      >
        <Icon name={isOpen ? "chevronDown" : "chevronRight"} size={14} className="quiet" />
        <span className="quiet">
          <Time at={request.receivedAt} />
        </span>
        <span className={`badge ${accepted ? "ok" : "bad"}`}>
          <Icon name={accepted ? "checkCircle" : "xCircle"} size={13} /> {request.status} {request.outcome}
        </span>
        {request.reconciled && <span className="badge plain">reconciled</span>}
        <span className="cut grow second small">{request.error ?? ""}</span>
        <span className="quiet small num wide-only">{request.ip}</span>
        <span className="quiet small num wide-only request-took">{duration(request.durationMs)}</span>
      </button>
      {isOpen && <RequestDetails env={env} webhook={webhook} request={request} />}
    </li>
  );
}

function RequestDetails({ env, webhook, request }: Omit<RequestItemProps, "isOpen" | "onOpen">) {
  const queries = useQueryClient();
  const mayRepair = useMayRepairWebhooks();
  async function replay() {
    await withToast(
      call<{ ids: string[] }>(`/webhooks/${encodeURIComponent(webhook.id)}/requests/${encodeURIComponent(request.id)}/replay`, {
        method: "POST",
      }),
      ({ ids }) => `Replayed through the current transform: ${ids.join(", ")}`,
    );
    await reload(queries, ["webhook-requests", webhook.id]);
  }
  const headers = Object.entries(request.headers);
  const query = Object.entries(request.query).flatMap(([name, values]) => values.map((value) => `${name}=${value}`));
  return (
    <div className="request-details">
      {request.error && (
        <Notice kind="bad" icon="alert">
          {request.error}
        </Notice>
      )}
      {request.reconciled && (
        <Notice kind="info" icon="alert">
          This request was never received. It was found in what the provider lists, and taken in by reconciliation.
        </Notice>
      )}
      <div className="row wrap">
        {request.eventId && (
          <Link to="/env/$env/events/$id" params={{ env: request.environment || env, id: request.eventId }} className="button small">
            <Icon name="inbox" size={14} /> View event
          </Link>
        )}
        {mayRepair && request.body !== null && (
          <button type="button" className="button small" onClick={() => void replay()}>
            <Icon name="refresh" size={14} /> Replay
          </button>
        )}
        <span className="quiet small">
          transform v{request.transformVersion} · environment: {request.environment || "none"} · {request.contentType ?? "no content type"}
        </span>
      </div>
      <RequestBody body={request.body} />
      {query.length > 0 && <Lines title="Query" lines={query} />}
      <Lines title="Headers" lines={headers.map(([name, value]) => `${name}: ${value}`)} />
      {request.logs.length > 0 && <Lines title="console.log" lines={request.logs} />}
    </div>
  );
}

function RequestBody({ body }: { body: string | null }) {
  if (body === null) return <p className="quiet">The body was too large to store.</p>;
  const json = readJsonText(body);
  if (json !== null) return <Payload text={json} title="Body" />;
  return (
    <div className="stack tight">
      <h3>
        Body <span className="quiet small">{bytes(body.length)}</span>
      </h3>
      <CodeBlock text={body === "" ? "(empty)" : body} label="Copy body" />
    </div>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div className="stack tight">
      <h3>{title}</h3>
      <pre className="logs">{lines.join("\n")}</pre>
    </div>
  );
}
