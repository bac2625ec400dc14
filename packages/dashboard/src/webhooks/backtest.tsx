/** Runs the draft on the newest recorded requests and shows what would change. Stores nothing. */

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client.ts";
import type { Backtest, BacktestChange, Webhook } from "../api/types.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";

const REQUESTS = 50;

const CHANGES: Record<BacktestChange, { kind: string; icon: IconName; label: string }> = {
  same: { kind: "", icon: "check", label: "Same event" },
  different: { kind: "info", icon: "edit", label: "Different event" },
  now_fails: { kind: "bad", icon: "xCircle", label: "Would fail" },
  now_works: { kind: "ok", icon: "checkCircle", label: "Would succeed" },
  still_fails: { kind: "warn", icon: "alert", label: "Still fails" },
};

export function BacktestButton({ webhook, draft }: { webhook: Webhook; draft: string }) {
  const [open, setOpen] = useState(false);
  const run = useMutation({
    mutationFn: () =>
      call<Backtest>(`/webhooks/${encodeURIComponent(webhook.id)}/backtest`, {
        method: "POST",
        body: { transform: draft, limit: REQUESTS },
      }),
  });
  return (
    <>
      <button
        type="button"
        className="button small"
        title="Run this draft on recorded requests and show what would change"
        onClick={() => {
          setOpen(true);
          run.mutate();
        }}
      >
        <Icon name="play" size={14} /> Run on recent requests
      </button>
      {open && (
        <Dialog title="Draft on recent requests" wide onClose={() => setOpen(false)}>
          {run.error ? (
            <ErrorState error={run.error} onRetry={() => run.mutate()} />
          ) : run.data ? (
            <Result backtest={run.data} />
          ) : (
            <SkeletonRows rows={5} />
          )}
        </Dialog>
      )}
    </>
  );
}

function Result({ backtest: { version, summary, requests } }: { backtest: Backtest }) {
  if (requests.length === 0) return <EmptyState icon="inbox" title="No recorded requests yet" />;
  return (
    <>
      <p className="second">Compared with version {version}, the current version. Nothing was stored.</p>
      <div className="row wrap">
        {(Object.keys(CHANGES) as BacktestChange[])
          .filter((change) => summary[change] > 0)
          .map((change) => (
            <span key={change} className={`badge ${CHANGES[change].kind}`}>
              <Icon name={CHANGES[change].icon} size={13} /> {summary[change]} · {CHANGES[change].label}
            </span>
          ))}
      </div>
      <ul className="run-list">
        {requests.map((request) => (
          <li key={request.requestId} className="backtest-row">
            <div className="row">
              <span className={`badge ${CHANGES[request.change].kind}`}>
                <Icon name={CHANGES[request.change].icon} size={13} /> {CHANGES[request.change].label}
              </span>
              <span className="quiet grow">
                <Time at={request.receivedAt} />
              </span>
            </div>
            {request.after.error && <p className="small second">{request.after.error.message}</p>}
            {request.diff.map(({ path, before, after }) => (
              <div key={path} className="small mono diff-line">
                <span className="second">{path}</span> <del>{short(before)}</del> <ins>{short(after)}</ins>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

function short(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
