/** The audit log: who changed what and when. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { auditQuery } from "../api/queries.ts";
import type { AuditEntry } from "../api/types.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

export function AuditLogPage() {
  const log = useInfiniteQuery(auditQuery);
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Audit log</h1>
        <p>Changes made through the REST API, the CLI or this dashboard, in all environments.</p>
      </div>
      {log.isPending ? (
        <SkeletonRows />
      ) : log.isError ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : entries.length === 0 ? (
        <div className="card">
          <EmptyState icon="book" title="No changes yet" />
        </div>
      ) : (
        <AuditTable entries={entries} />
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

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table columns={["When", "Who", "What", "On", "Environment"]}>
      {entries.map(({ id, at, actor, action, target, environment, details }) => (
        <tr key={id} title={details ? JSON.stringify(details) : undefined}>
          <td className="second">
            <Time at={at} />
          </td>
          <td>
            {actor.name ?? actor.id ?? "unknown"} {actor.kind !== "dev" && <span className="quiet small">{actor.kind}</span>}
          </td>
          <td>
            <span className="chip">{action}</span>
          </td>
          <td>
            {target.name ?? target.id} <span className="quiet small">{target.kind}</span>
          </td>
          <td className="second">{environment ?? "all"}</td>
        </tr>
      ))}
    </Table>
  );
}
