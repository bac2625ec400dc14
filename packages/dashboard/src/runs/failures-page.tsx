/** Failures: errors with the number of runs and the time of the first one. */

import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { SpanButtons } from "../lists/span-buttons.tsx";
import { DEFAULT_SPAN, SPANS } from "../lists/span-search.ts";
import { useNow } from "../ui/time.tsx";
import { FailureGroups } from "./failure-groups.tsx";

const REFRESH_MS = 60_000;

export function FailuresPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { span = DEFAULT_SPAN } = useSearch({ from: "/env/$env/failures" });
  const navigate = useNavigate();
  const now = Math.floor(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  return (
    <div className="page">
      <div className="page-head">
        <h1>Failures</h1>
        <div className="actions">
          <SpanButtons
            span={span}
            onChange={(next) => void navigate({ to: "/env/$env/failures", params: { env }, search: { span: next }, replace: true })}
          />
        </div>
        <p>Failed runs by function and error, the most frequent first.</p>
      </div>
      <FailureGroups env={env} from={now - SPANS[span]} />
    </div>
  );
}
