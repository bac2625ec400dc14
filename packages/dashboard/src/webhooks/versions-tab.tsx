/** All versions of the transform, with diffs and a restore button. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import { versionsQuery, webhookQuery } from "../api/queries.ts";
import { reload } from "../api/reload.ts";
import { useMayChangeIngestion } from "../api/session.ts";
import type { Webhook, WebhookVersion } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { LazyDiff } from "../editor/lazy-editor.tsx";
import { Icon } from "../ui/icon.tsx";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";

export function VersionsTab({ webhook }: { webhook: Webhook }) {
  const { data, error, refetch } = useQuery(versionsQuery(webhook.id));
  const [chosen, setChosen] = useState<number | null>(null);
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} />;
  const newestFirst = data.toSorted((a, b) => b.version - a.version);
  const shown = newestFirst.find(({ version }) => version === (chosen ?? webhook.version)) ?? newestFirst[0];
  const older = newestFirst.find(({ version }) => version < (shown?.version ?? 0));
  return (
    <div className="versions-tab">
      <ul className="run-list">
        {newestFirst.map((version) => (
          <li key={version.version}>
            <button
              type="button"
              className="run-line version-line"
              aria-pressed={version === shown}
              onClick={() => setChosen(version.version)}
            >
              <span className="strong num">v{version.version}</span>
              <span className="quiet grow">
                <Time at={version.createdAt} />
                {version.author !== null && ` by ${version.author}`}
              </span>
              {version.current && <span className="badge ok plain">current</span>}
            </button>
          </li>
        ))}
      </ul>
      {shown && <VersionCard webhook={webhook} shown={shown} older={older} />}
    </div>
  );
}

function VersionCard({ webhook, shown, older }: { webhook: Webhook; shown: WebhookVersion; older: WebhookVersion | undefined }) {
  const [against, setAgainst] = useState<"older" | "current">("older");
  const queries = useQueryClient();
  const mayChange = useMayChangeIngestion();
  const before = against === "older" ? (older?.transform ?? "") : shown.transform;
  const after = against === "older" ? shown.transform : webhook.transform;
  async function restore() {
    const restored = await withToast(
      call<Webhook>(`/webhooks/${encodeURIComponent(webhook.id)}`, { method: "PUT", body: { version: shown.version } }),
      `Version ${shown.version} is current again.`,
    );
    if (restored) queries.setQueryData(webhookQuery(webhook.id).queryKey, restored);
    await reload(queries, versionsQuery(webhook.id).queryKey);
  }
  return (
    <section className="card editor-card" aria-label={`Version ${shown.version}`}>
      <div className="card-head">
        <h2 className="grow">Version {shown.version}</h2>
        {!shown.current && (
          <div className="segments">
            <button type="button" className="segment" aria-pressed={against === "older"} onClick={() => setAgainst("older")}>
              Changes in this version
            </button>
            <button type="button" className="segment" aria-pressed={against === "current"} onClick={() => setAgainst("current")}>
              Changes since
            </button>
          </div>
        )}
        {!shown.current && mayChange && (
          <button type="button" className="button small" onClick={() => void restore()}>
            <Icon name="refresh" size={14} /> Restore
          </button>
        )}
      </div>
      <LazyDiff before={before} after={after} label={`Changes of version ${shown.version}`} />
    </section>
  );
}
