/** Jobs in progress and ended ones, newest first. */

import type { JobView } from "@inlet/protocol";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { jobsQuery } from "../api/jobs.ts";
import { ExportList } from "../lists/export-list.tsx";
import { count } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobStatusBadge } from "./job-status.tsx";
import { filterText, wordsOf } from "./job-words.ts";

export function JobsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const [withPasses, setWithPasses] = useState(false);
  const query = withPasses ? {} : { scheduled: "false" };
  const jobs = useInfiniteQuery(jobsQuery(env, query));
  const items = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="page">
      <div className="page-head">
        <h1>Jobs</h1>
        <div className="actions">
          <label className="switch">
            <input type="checkbox" checked={withPasses} onChange={({ target }) => setWithPasses(target.checked)} /> Show scheduled
            reconciliations
          </label>
          <ExportList env={env} path="/jobs" query={query} name={`jobs-${env}`} />
        </div>
        <p>Bulk operations: replays of events, reruns and cancellations. Start them from the lists of runs and events.</p>
      </div>
      {jobs.error && items.length === 0 ? (
        <ErrorState error={jobs.error} onRetry={() => void jobs.refetch()} />
      ) : jobs.isPending ? (
        <SkeletonRows />
      ) : items.length === 0 ? (
        <NoJobs env={env} />
      ) : (
        <>
          <JobTable env={env} jobs={items} />
          {jobs.hasNextPage && (
            <button type="button" className="button" onClick={() => void jobs.fetchNextPage()}>
              Show more
            </button>
          )}
        </>
      )}
    </div>
  );
}

function NoJobs({ env }: { env: string }) {
  return (
    <div className="card">
      <EmptyState icon="layers" title="No jobs yet">
        <p>Filter the runs or events you want to repair, and choose what to do with all of them.</p>
        <Link to="/env/$env/runs" params={{ env }} search={{ status: "failed" }} className="button">
          Show failed runs
        </Link>
      </EmptyState>
    </div>
  );
}

function JobTable({ env, jobs }: { env: string; jobs: readonly JobView[] }) {
  return (
    <Table columns={["Job", "Status", "Progress", "Failed", "Created"]} isStacked>
      {jobs.map((job) => (
        <tr key={job.id}>
          <td>
            <Link to="/env/$env/jobs/$id" params={{ env, id: job.id }} className="strong">
              {wordsOf(job.kind).title}
            </Link>
            <div className="quiet small">{filterText(job)}</div>
          </td>
          <td data-label="Status">
            <JobStatusBadge status={job.status} />
          </td>
          <td data-label="Progress">
            <JobProgress job={job} />
          </td>
          <td data-label="Failed" className="num">
            {count(job.failed)}
          </td>
          <td data-label="Created" className="second">
            <Time at={job.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
