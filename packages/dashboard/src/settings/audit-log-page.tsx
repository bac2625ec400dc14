/** The audit log: who changed what and when. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { auditQuery } from "../api/queries.ts";
import { useIsUnrestricted } from "../api/session.ts";
import type { AuditEntry } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { useLatestSearch } from "../lists/latest-search.ts";
import { instantsOf, withoutRange } from "../lists/time-range.ts";
import { TimeRangeFilter } from "../lists/time-range-filter.tsx";
import { TypedFilter } from "../lists/typed-filter.tsx";
import { useListFilters } from "../lists/use-list-filters.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { type AuditSearch, readAuditSearch } from "./audit-search.ts";

export function AuditLogPage() {
  const { env } = useParams({ from: "/env/$env" });
  const search = useSearch({ from: "/env/$env/audit-log" });
  const navigate = useNavigate();
  const isUnrestricted = useIsUnrestricted();
  const filters = useListFilters(env, search, auditFiltersOf);
  const log = useInfiniteQuery(auditQuery(filters));
  const setSearch = (next: AuditSearch) => void navigate({ to: "/env/$env/audit-log", params: { env }, search: next, replace: true });
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Audit log</h1>
        <div className="actions">
          <ExportList env={env} path="/audit-log" query={filters} name="audit-log" />
        </div>
        <p>Changes made through the REST API, the CLI or this dashboard, in {isUnrestricted ? "all" : "your"} environments.</p>
      </div>
      <AuditFilters search={search} onChange={setSearch} />
      {log.isPending ? (
        <SkeletonRows />
      ) : isUnavailable(log.error, log.data) ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : entries.length === 0 ? (
        <div className="card">
          <EmptyState icon="book" title={Object.keys(search).length > 0 ? "No change matches these filters" : "No changes yet"} />
        </div>
      ) : (
        <AuditTable entries={entries} />
      )}
      {log.isFetchNextPageError && (
        <ErrorState error={log.error} title="Older entries could not be loaded" onRetry={() => void log.fetchNextPage()} />
      )}
      {log.hasNextPage && (
        <div>
          <button type="button" className="button" disabled={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            Older entries
          </button>
        </div>
      )}
    </div>
  );
}

function auditFiltersOf({ action, actor, ...range }: AuditSearch) {
  return { action, actor, ...instantsOf(range) };
}

const ACTORS = ["session", "api-key", "signing-key", "event-key", "service", "link", "dev"];

function AuditFilters({ search, onChange }: { search: AuditSearch; onChange: (search: AuditSearch) => void }) {
  const latest = useLatestSearch(readAuditSearch);
  const set = (changes: AuditSearch) =>
    onChange(Object.fromEntries(Object.entries({ ...latest(), ...changes }).filter(([, value]) => value !== undefined && value !== "")));
  return (
    <search className="filters" aria-label="Filter the audit log">
      <TypedFilter
        label="Action; may end in *"
        placeholder="Action, or webhook.*"
        value={search.action}
        onChange={(action) => set({ action })}
      />
      <select className="input" aria-label="Who" value={search.actor ?? ""} onChange={({ target }) => set({ actor: target.value })}>
        <option value="">Anyone</option>
        {ACTORS.map((actor) => (
          <option key={actor}>{actor}</option>
        ))}
        {search.actor && !ACTORS.includes(search.actor) && <option>{search.actor}</option>}
      </select>
      <TimeRangeFilter value={search} onChange={(range) => onChange({ ...withoutRange(latest()), ...range })} />
    </search>
  );
}

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table columns={["When", "Who", "What", "On", "Environment"]} isStacked>
      {entries.map(({ id, at, actor, action, target, environment, details }) => (
        <tr key={id} title={details ? JSON.stringify(details) : undefined}>
          <td className="second">
            <Time at={at} />
          </td>
          <td data-label="Who" className="long">
            {actor.name ?? actor.id ?? "unknown"} {actor.kind !== "dev" && <span className="quiet small">{actor.kind}</span>}
          </td>
          <td data-label="What">
            <span className="chip">{action}</span>
          </td>
          <td data-label="On" className="long">
            {target.name ?? target.id} <span className="quiet small">{target.kind}</span>
          </td>
          <td data-label="Environment" className="second long">
            {environment ?? "all"}
          </td>
        </tr>
      ))}
    </Table>
  );
}
