/** The filters of a webhook's requests, and what can be done with all of them. */

import type { Webhook } from "../api/types.ts";
import { type JobChoice, JobMenu } from "../jobs/job-menu.tsx";
import { ExportList } from "../lists/export-list.tsx";
import { TypedFilter } from "../lists/typed-filter.tsx";
import { Icon } from "../ui/icon.tsx";
import type { RequestSearch } from "./webhook-search.ts";

const OUTCOMES = [
  "accepted",
  "handshake",
  "signature_invalid",
  "secret_missing",
  "handshake_failed",
  "transform_failed",
  "transform_invalid_event",
  "transform_timeout",
  "transform_memory",
  "event_name_denied",
  "ip_denied",
  "body_invalid",
  "body_too_large",
];

const CHOICES: readonly JobChoice[] = [{ kind: "requests.replay", label: "Replay all requests of this list", icon: "refresh" }];

interface RequestFiltersProps {
  webhook: Webhook;
  search: RequestSearch;
  onChange: (search: RequestSearch) => void;
}

export function RequestFilters({ webhook, search, onChange }: RequestFiltersProps) {
  const { from, to, ...rest } = search;
  return (
    <div className="row wrap">
      <select
        className="input"
        aria-label="Outcome"
        value={search.outcome ?? ""}
        onChange={({ target }) => onChange({ ...search, outcome: target.value || undefined })}
      >
        <option value="">Any outcome</option>
        {OUTCOMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <TypedFilter
        label="Text in the body"
        placeholder="Text in the body"
        value={search.q}
        onChange={(text) => onChange({ ...search, q: text || undefined })}
      />
      {from !== undefined && (
        <button type="button" className="button" onClick={() => onChange(rest)}>
          <Icon name="x" size={14} /> Time range
        </button>
      )}
      <span className="quiet small grow list-note">Newest first. Refreshes automatically.</span>
      <ExportList
        env={webhook.environment}
        path={`/webhooks/${encodeURIComponent(webhook.id)}/requests`}
        query={{ ...search }}
        name={`requests-${webhook.id}`}
      />
      <JobMenu env={webhook.environment} filter={{ ...jobFilter(search), webhook: webhook.id }} choices={CHOICES} />
    </div>
  );
}

/** Jobs take times as text. */
function jobFilter({ from, to, ...rest }: RequestSearch) {
  return { ...rest, ...(from !== undefined && { from: String(from) }), ...(to !== undefined && { to: String(to) }) };
}
