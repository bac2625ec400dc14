/** Kinds of jobs, and the request of one, checked by every rule of its kind. */

import type { Environment, Job } from "../../store/contract/index.ts";
import { invalid, invalidRequest, RestRefusal } from "../rest-errors.ts";
import { closed, compileQueryCheck, type QueryCheck } from "../rest-schemas.ts";
import { faultsOf } from "../validation-faults.ts";

export type JsonSchemaProperties = Readonly<Record<string, object>>;

export interface JobRequest {
  kind: string;
  filter: Record<string, unknown>;
  function?: string;
  rate?: number;
}

export interface JobPreview {
  total: number;
  /** JSON texts. */
  samples: readonly string[];
}

/** What may be asked of a kind of job. */
export interface JobRules {
  kind: string;
  filters: JsonSchemaProperties;
  filtersRequired: readonly string[];
  takesFunction: boolean;
  takesAll: boolean;
}

export interface JobsPart {
  kinds: readonly JobRules[];
  preview(environment: Environment, request: JobRequest): Promise<JobPreview>;
  create(environment: Environment, request: JobRequest): Promise<Job>;
}

export interface RequestReaderParts {
  jobs: JobsPart;
  registry: { functions(environment: Environment): { stored: { id: string } }[] };
}

export interface CreateJobBody {
  kind: string;
  filter: Record<string, unknown>;
  all?: boolean;
  function?: string;
  rate?: number;
  dryRun?: boolean;
}

export function createRequestReader({ jobs, registry }: RequestReaderParts) {
  const kinds = new Map(
    jobs.kinds.map((rules) => [rules.kind, { rules, check: compileQueryCheck(closed(rules.filters, [...rules.filtersRequired])) }]),
  );
  return (environment: Environment, body: CreateJobBody): JobRequest => {
    const { kind, all = false, function: functionId, rate } = body;
    const known = kinds.get(kind);
    if (!known) throw invalid("kind", `must be one of ${[...kinds.keys()].join(", ")}`);
    const filter = { ...body.filter };
    checkFilter(known.rules, known.check, filter, all);
    if (functionId !== undefined && !known.rules.takesFunction) throw invalid("function", `is not for jobs of the kind ${kind}`);
    if (functionId !== undefined && !registry.functions(environment).some(({ stored }) => stored.id === functionId)) {
      throw new RestRefusal("function_not_found", `There is no function ${functionId} in the environment "${environment.name}".`);
    }
    return { kind, filter, ...(functionId !== undefined && { function: functionId }), ...(rate !== undefined && { rate }) };
  };
}

/** A filter without any field would choose everything: that has to be said. */
function checkFilter({ kind, takesAll }: JobRules, check: QueryCheck, filter: Record<string, unknown>, all: boolean): void {
  const faults = check(filter);
  if (faults) {
    const named = faultsOf(faults).map(({ field, message }) => ({ field: `filter.${field}`, message }));
    const refused = invalidRequest(named);
    throw new RestRefusal(refused.code, refused.message, refused.details);
  }
  if (all && !takesAll) throw invalid("all", `is not for jobs of the kind ${kind}`);
  if (Object.keys(filter).length > 0 || all) return;
  throw invalid("filter", takesAll ? 'is empty; say "all": true to work on every entry' : "must not be empty");
}
