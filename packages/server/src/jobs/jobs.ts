/**
 * Makes jobs. The items are found when the job is made, by walking the whole list, and kept with it: what the list says later, after
 * live traffic or the job itself changed it, makes no difference. They are worked on oldest first.
 */

import { createHash } from "node:crypto";
import type { JobId } from "@inlet/protocol";
import type { JobPreview, JobRequest, JobsPart } from "../api/jobs/jobs-routes.ts";
import { type Environment, JOB_CHUNK_ITEMS, type Job, type JobItem, type JobStore } from "../store/contract/index.ts";
import type { JobKind } from "./job-kind.ts";

export interface JobsParts {
  store: JobStore;
  kinds: readonly JobKind[];
  /** Items per second, for jobs that say nothing. */
  rate: number;
  newId(): JobId;
  /** There is a job to be worked on. */
  wake(): void;
  now(): number;
}

const SAMPLES_MAX = 5;

export function createJobs({ store, kinds, rate, newId, wake, now }: JobsParts): JobsPart {
  const kindOf = ({ kind }: JobRequest) => kinds.find((candidate) => candidate.kind === kind) as JobKind;

  function keptFilter(request: JobRequest): string {
    const text = JSON.stringify(request.filter);
    return kindOf(request).hidesFilter ? JSON.stringify({ sha256: createHash("sha256").update(text).digest("hex") }) : text;
  }

  async function find(environment: Environment, request: JobRequest): Promise<{ items: JobItem[]; samples: string[] }> {
    const items: JobItem[] = [];
    const samples: string[] = [];
    for await (const page of kindOf(request).find(environment, request.filter)) {
      for (const { item, sample } of page) {
        if (samples.length < SAMPLES_MAX) samples.push(sample());
        items.push(item);
      }
    }
    return { items: items.reverse(), samples };
  }

  async function preview(environment: Environment, request: JobRequest): Promise<JobPreview> {
    const { items, samples } = await find(environment, request);
    return { total: items.length, samples };
  }

  async function create(environment: Environment, request: JobRequest): Promise<Job> {
    const { items } = await find(environment, request);
    const id = newId();
    const environmentId = environment.id;
    for (let from = 0; from < items.length; from += JOB_CHUNK_ITEMS) {
      const chunk = from / JOB_CHUNK_ITEMS;
      await store.jobItemsInsert({ id, environmentId, chunk, items: items.slice(from, from + JOB_CHUNK_ITEMS) });
    }
    await store.jobInsert({
      ...{ id, environmentId, kind: request.kind, filter: keptFilter(request), functionId: request.function ?? null },
      ...{ total: items.length, rate: request.rate ?? rate, createdAt: now() },
    });
    wake();
    return (await store.jobGet({ environmentId, id })) as Job;
  }

  const rules = kinds.map(({ kind, filters, filtersRequired = [], takesFunction = false, takesAll }) => ({
    ...{ kind, filters, filtersRequired, takesFunction, takesAll },
  }));
  return { kinds: rules, preview, create };
}
