/** Starts a job: counts its items and shows some of them before it can be started. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { createJob, type JobPreview, type JobRequest, jobPreviewQuery } from "../api/jobs.ts";
import { reload } from "../api/reload.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { plural } from "../ui/numbers.ts";
import { messageOf, Notice, SkeletonRows } from "../ui/states.tsx";
import { filterText, wordsOf } from "./job-words.ts";

interface JobDialogProps {
  env: string;
  request: JobRequest;
  onClose: () => void;
  /** Fields that change the request. */
  children?: ReactNode;
  /** False: it cannot be started yet. */
  isConfirmed?: boolean;
}

export function JobDialog({ env, request, onClose, children, isConfirmed = true }: JobDialogProps) {
  const { data, error, isFetching } = useQuery(jobPreviewQuery(env, request));
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { title, action, item } = wordsOf(request.kind);
  const isReady = data !== undefined && !isFetching && data.total > 0;
  async function start() {
    const { id } = await createJob(env, request);
    await reload(queries, ["jobs", env]);
    onClose();
    await navigate({ to: "/env/$env/jobs/$id", params: { env, id } });
  }
  return (
    <FormDialog
      title={title}
      submit={isReady ? `${action} ${plural(data.total, item)}` : `${action} ${item}s`}
      danger={request.kind === "runs.cancel" || request.kind === "events.erase"}
      disabled={!isReady || !isConfirmed}
      onClose={onClose}
      onSubmit={start}
    >
      {children}
      <p className="second">Filter: {filterText({ filter: given(request.filter), function: request.function ?? null })}</p>
      {error ? (
        <Notice kind="bad" icon="alert">
          {messageOf(error)}
        </Notice>
      ) : data && !isFetching ? (
        <Preview preview={data} item={item} />
      ) : (
        <SkeletonRows rows={3} height={28} />
      )}
    </FormDialog>
  );
}

function given(filter: JobRequest["filter"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ""));
}

function Preview({ preview: { total, samples }, item }: { preview: JobPreview; item: string }) {
  if (total === 0) return <Notice icon="search">No {item} matches. There is nothing to do.</Notice>;
  return (
    <section className="stack tight" aria-label="Dry run">
      <p>
        <span className="strong">{plural(total, item)}</span> {total === 1 ? "matches" : "match"}. Nothing has been done yet.
      </p>
      <ul className="job-samples">
        {samples.map((sample) => (
          <li key={String(sample.id)} className="cut">
            <SampleText sample={sample} />
          </li>
        ))}
        {total > samples.length && <li className="quiet">and {plural(total - samples.length, "other")}</li>}
      </ul>
    </section>
  );
}

/** A run, an event or a request, by the fields it has. */
function SampleText({ sample }: { sample: Record<string, unknown> }) {
  const fn = sample.function as { name?: string } | undefined;
  const event = sample.event as { name?: string; preview?: string } | null | undefined;
  const error = sample.error as { message?: string } | null | undefined;
  const title = fn?.name ?? (sample.name as string | undefined) ?? (sample.outcome as string | undefined) ?? "";
  const hint = error?.message ?? event?.preview ?? (sample.data === undefined ? String(sample.id) : JSON.stringify(sample.data));
  return (
    <>
      <span className="strong">{title}</span> <span className="quiet small mono">{hint}</span>
    </>
  );
}
