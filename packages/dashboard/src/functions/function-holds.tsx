/** The order keys of a function that are on hold: which run failed, how many wait behind it, and the actions that continue them. */

import { infiniteQueryOptions, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { call, callForPage, parsed } from "../api/client.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import type { FunctionItem, Hold } from "../api/types.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { plural } from "../ui/numbers.ts";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { toast } from "../ui/toasts.tsx";

const REFRESH_MS = 5_000;

const holdsQuery = (env: string, fn: string) =>
  infiniteQueryOptions({
    queryKey: ["holds", env, fn],
    queryFn: ({ pageParam }) => callForPage<Hold>("/holds", parsed, { env, query: { function: fn, limit: 50, cursor: pageParam } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: REFRESH_MS,
  });

/** Renders nothing for functions that do not hold keys after a failure. */
export function FunctionHolds({ env, fn }: { env: string; fn: FunctionItem }) {
  const ordering = fn.config.ordering as { onFailure?: string } | undefined;
  return ordering?.onFailure === "hold" ? <Holds env={env} fn={fn} /> : null;
}

function Holds({ env, fn }: { env: string; fn: FunctionItem }) {
  const holds = useInfiniteQuery(holdsQuery(env, fn.id));
  const items = holds.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="stack" aria-label="Keys on hold">
      <h2>Keys on hold</h2>
      {holds.isError && items.length === 0 ? (
        <ErrorState error={holds.error} onRetry={() => void holds.refetch()} />
      ) : holds.isPending ? (
        <SkeletonRows rows={2} />
      ) : items.length === 0 ? (
        <p className="second">
          None. When a run fails, later runs of the same key wait until it completes on a rerun or its key is released.
        </p>
      ) : (
        <>
          <HoldTable env={env} holds={items} />
          {holds.hasNextPage && (
            <button type="button" className="button" onClick={() => void holds.fetchNextPage()}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  );
}

function HoldTable({ env, holds }: { env: string; holds: readonly Hold[] }) {
  const [releasing, setReleasing] = useState<Hold | null>(null);
  const mayRepair = useMayRepair();
  return (
    <>
      <Table columns={["Key", "Failed run", "Waiting", "On hold since", ...(mayRepair ? [ACTIONS] : [])]} isStacked>
        {holds.map((hold) => (
          <tr key={hold.id}>
            <td className="mono strong">{keyOf(hold)}</td>
            <td data-label="Failed run">
              {hold.runId === null ? (
                <span className="quiet">removed</span>
              ) : (
                <Link to="/env/$env/runs/$id" params={{ env, id: hold.runId }} className="mono">
                  {hold.runId}
                </Link>
              )}
            </td>
            <td data-label="Waiting">{plural(hold.waiting, "run waits", "runs wait")}</td>
            <td data-label="On hold since" className="second">
              <Time at={hold.heldAt} />
            </td>
            {mayRepair && (
              <td className="right">
                <button type="button" className="button small" onClick={() => setReleasing(hold)}>
                  Release<span className="visually-hidden"> {keyOf(hold)}</span>
                </button>
              </td>
            )}
          </tr>
        ))}
      </Table>
      {releasing && <ReleaseDialog env={env} hold={releasing} onClose={() => setReleasing(null)} />}
    </>
  );
}

/** The text of a key goes with its run and its event. */
function keyOf({ key }: Hold): string {
  return key ?? "key erased";
}

function ReleaseDialog({ env, hold, onClose }: { env: string; hold: Hold; onClose: () => void }) {
  const queries = useQueryClient();
  async function release() {
    await call(`/holds/${encodeURIComponent(hold.id)}/release`, { method: "POST", env });
    await reload(queries, ["holds", env]);
    toast("ok", `${keyOf(hold)} released.`);
    onClose();
  }
  return (
    <FormDialog title={`Release ${keyOf(hold)}?`} submit="Release" onClose={onClose} onSubmit={release}>
      <p className="second">
        The next run of this key starts, although one before it failed. To keep the order, rerun the failed run instead: the key goes on
        when that completes.
      </p>
    </FormDialog>
  );
}
