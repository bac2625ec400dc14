/** Why an unfinished run is not being called, and where to go to change that. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run } from "../api/types.ts";
import { Notice } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";

export function RunWaiting({ env, run }: { env: string; run: Run }) {
  if (!run.waiting) return null;
  return (
    <Notice kind="info" icon="clock">
      {explain(env, run, run.waiting)}
    </Notice>
  );
}

function explain(env: string, { function: fn, orderKey }: Run, { reason, until, runId }: NonNullable<Run["waiting"]>): ReactNode {
  const other = runId ? (
    <Link to="/env/$env/runs/$id" params={{ env, id: runId }} className="mono">
      {runId}
    </Link>
  ) : (
    "a run that has been removed"
  );
  const toFunction = (text: string) => (
    <Link to="/env/$env/functions/$id" params={{ env, id: fn.id }}>
      {text}
    </Link>
  );
  switch (reason) {
    case "environment_archived":
      return "This run waits: its environment is archived and runs no functions.";
    case "function_paused":
      return <>This run waits: its function is paused. {toFunction("Show the function")}</>;
    case "key_on_hold":
      return (
        <>
          This run waits: its key {orderKey} is on hold since {other} failed. Rerun that run, or {toFunction("release the key")}.
        </>
      );
    case "key_busy":
      return (
        <>
          This run waits for {other}, which comes before it with the key {orderKey}.
        </>
      );
    case "app_unreachable":
      return (
        <>
          The app could not be reached. It is called again at <Time at={until} />.
        </>
      );
    case "retry":
      return (
        <>
          The last attempt failed. The app is called again at <Time at={until} />.
        </>
      );
    case "delayed":
      return (
        <>
          This run starts at <Time at={until} full />, the time of its event.
        </>
      );
    case "throttled":
      return (
        <>
          This run waits: its function is throttled
          {until && (
            <>
              , the next run starts at <Time at={until} />
            </>
          )}
          . {toFunction("Show its limits")}
        </>
      );
    case "limit_full":
      return <>This run waits for a free slot of its function's limits. {toFunction("Show its limits")}</>;
    default:
      return "This run waits for a free slot: its app already has the maximum number of concurrent calls (--app-calls).";
  }
}
