/** Failures: errors with the number of runs and the time of the first one; open ones first, resolved and ignored ones on request. */

import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { FAILURE_STATES } from "../api/failures.ts";
import { ExportList } from "../lists/export-list.tsx";
import { useLatestSearch } from "../lists/latest-search.ts";
import { SpanButtons } from "../lists/span-buttons.tsx";
import { DEFAULT_SPAN, SPANS } from "../lists/span-search.ts";
import { TypedFilter } from "../lists/typed-filter.tsx";
import { useNow } from "../ui/time.tsx";
import { FailureGroups } from "./failure-groups.tsx";
import { type FailureSearch, readFailureSearch } from "./failure-search.ts";
import { FunctionFilter } from "./function-filter.tsx";

const REFRESH_MS = 60_000;
const WORDS = { open: "Open", resolved: "Resolved", ignored: "Ignored" };

export function FailuresPage() {
  const { env } = useParams({ from: "/env/$env" });
  const search = useSearch({ from: "/env/$env/failures" });
  const { span = DEFAULT_SPAN, state = "open", function: fn, q } = search;
  const navigate = useNavigate();
  const now = Math.floor(useNow(REFRESH_MS) / REFRESH_MS) * REFRESH_MS;
  const latest = useLatestSearch(readFailureSearch);
  const set = (changes: FailureSearch) =>
    void navigate({ to: "/env/$env/failures", params: { env }, search: { ...latest(), ...changes }, replace: true });
  const filter = { from: now - SPANS[span], state, function: fn, q };
  return (
    <div className="page">
      <div className="page-head">
        <h1>Failures</h1>
        <div className="actions">
          <ExportList env={env} path="/failures" query={filter} name={`failures-${env}`} />
          <SpanButtons span={span} onChange={(next) => set({ span: next })} />
        </div>
        <p>Failed runs by function and error, the most frequent first. Runs that were rerun since are not counted.</p>
      </div>
      <search className="filters" aria-label="Filter failures">
        <div className="segments">
          {FAILURE_STATES.map((one) => (
            <button key={one} type="button" className="segment" aria-pressed={one === state} onClick={() => set({ state: one })}>
              {WORDS[one]}
            </button>
          ))}
        </div>
        <FunctionFilter env={env} value={fn} onChange={(id) => set({ function: id })} />
        <TypedFilter label="Text in the failure" placeholder="Text in the error" value={q} onChange={(text) => set({ q: text })} />
      </search>
      <FailureGroups env={env} filter={filter} />
    </div>
  );
}
