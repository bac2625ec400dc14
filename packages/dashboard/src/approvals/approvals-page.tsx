/** The inbox: questions that wait for a decision, and those that have ended. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type Approval, approvalsQuery } from "../api/approvals.ts";
import { useMayRepair } from "../api/session.ts";
import { ExportList } from "../lists/export-list.tsx";
import { Payload } from "../ui/payload.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { ApprovalStatusBadge } from "./approval-status.tsx";
import { DecideButtons, DecideDialog, type Deciding } from "./decide-buttons.tsx";

export function ApprovalsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const [isOpenOnly, setOpenOnly] = useState(true);
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  const approvals = useInfiniteQuery(approvalsQuery(env, isOpenOnly ? "open" : undefined));
  const items = approvals.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Approvals</h1>
        <div className="actions">
          <ExportList env={env} path="/approvals" query={isOpenOnly ? { status: "open" } : {}} name={`approvals-${env}`} />
          <div className="segments">
            {[true, false].map((open) => (
              <button
                key={String(open)}
                type="button"
                className="segment"
                aria-pressed={isOpenOnly === open}
                onClick={() => setOpenOnly(open)}
              >
                {open ? "Open" : "All"}
              </button>
            ))}
          </div>
        </div>
        <p>
          Decisions that runs wait for. Subscribe a function to <code>inlet/approval.requested</code> to send people the link.
        </p>
      </div>
      {approvals.error && items.length === 0 ? (
        <ErrorState error={approvals.error} title="The approvals could not be loaded" onRetry={() => void approvals.refetch()} />
      ) : approvals.isPending ? (
        <SkeletonRows />
      ) : items.length === 0 ? (
        <NoApprovals isOpenOnly={isOpenOnly} />
      ) : (
        <>
          <ApprovalTable env={env} approvals={items} onDecide={setDeciding} />
          {approvals.hasNextPage && (
            <button type="button" className="button" onClick={() => void approvals.fetchNextPage()}>
              Show more
            </button>
          )}
        </>
      )}
      {deciding && <DecideDialog env={env} {...deciding} onClose={() => setDeciding(null)} />}
    </div>
  );
}

function NoApprovals({ isOpenOnly }: { isOpenOnly: boolean }) {
  return (
    <div className="card">
      <EmptyState icon="checkCircle" title={isOpenOnly ? "No open approvals" : "No approvals yet"}>
        <p>
          A function requests one with <code>step.waitForApproval</code>, or with <code>POST /v1/approvals</code> if it uses another SDK.
        </p>
      </EmptyState>
    </div>
  );
}

interface ApprovalTableProps {
  env: string;
  approvals: readonly Approval[];
  onDecide: (deciding: Deciding) => void;
}

function ApprovalTable({ env, approvals, onDecide }: ApprovalTableProps) {
  const mayRepair = useMayRepair();
  return (
    <Table columns={["Question", "Status", "Asked by", "Until", ...(mayRepair ? [ACTIONS] : [])]} isStacked>
      {approvals.map((approval) => (
        <tr key={approval.id}>
          <td>
            <span className="strong">{approval.prompt}</span>
            {approval.comment !== null && <div className="quiet small">{approval.comment}</div>}
            {approval.data !== null && (
              <details>
                <summary>Data</summary>
                <Payload text={approval.data} title="Data" label={`Data of ${approval.prompt}`} />
              </details>
            )}
          </td>
          <td data-label="Status">
            <div>
              <ApprovalStatusBadge status={approval.status} />
              {approval.by !== null && <div className="quiet small">by {approval.by}</div>}
            </div>
          </td>
          <td data-label="Asked by">
            <Asker env={env} approval={approval} />
          </td>
          <td data-label="Until" className="second">
            <Time at={approval.expiresAt} />
          </td>
          {mayRepair && (
            <td className="right">
              <DecideButtons approval={approval} onDecide={onDecide} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  );
}

function Asker({ env, approval: { function: fn, app, runId, signal } }: { env: string; approval: Approval }) {
  return (
    <div>
      {fn && runId && (
        <Link to="/env/$env/runs/$id" params={{ env, id: runId }}>
          {fn.name}
        </Link>
      )}
      {fn && app && <div className="quiet small">{app}</div>}
      {signal !== null && <code>{signal}</code>}
    </div>
  );
}
