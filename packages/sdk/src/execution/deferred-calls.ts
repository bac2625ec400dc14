/** The functions that a call defers: collected while the code runs, and included in the response. The service stores each once. */

import type { Client } from "../client/client.ts";
import { type Sessions, stampedMeta } from "../events/sessions.ts";
import type { StandardSchemaV1 } from "../events/standard-schema.ts";
import type { DeferOptions, Deferred, DeferredFunction } from "../functions/defer.ts";
import { fullId } from "../functions/inlet-function.ts";
import { hashStepId } from "../wire/sha1.ts";
import type { DeferOperation } from "../wire/step-operations.ts";
import { refuseNested } from "./run-step.ts";

export interface DeferRequest {
  id: string;
  fnSlug: string;
  input: unknown;
  meta: object | undefined;
}

export class DeferredCalls {
  readonly #operations = new Map<string, DeferOperation>();

  /** `id` is unique within the run. */
  add({ id, fnSlug, input, meta }: DeferRequest): Deferred {
    const target = hashStepId(id);
    const named = { name: id, displayName: id, userland: { id, index: 0 } };
    this.#operations.set(target, { op: "DeferAdd", id: target, ...named, opts: { fn_slug: fnSlug, input, ...(meta && { meta }) } });
    return {
      abort: () => {
        const opts = { target_hashed_id: target, fn_slug: fnSlug, id };
        this.#operations.set(target, { op: "DeferAbort", id: hashStepId(`${target}:abort`), ...named, opts });
      },
    };
  }

  operations(): DeferOperation[] {
    return [...this.#operations.values()];
  }
}

/** The `defer` of a handler. Faults in the arguments throw at the call. */
export function makeDefer(client: Client, sessions: Sessions, add: (request: DeferRequest) => Deferred) {
  return (id: string, { function: called, data, meta }: DeferOptions<DeferredFunction>): Deferred => {
    refuseNested(id);
    if (!called?.isDeferred) throw new TypeError(`defer("${id}") needs a function that createDefer has made`);
    const stamped = stampedMeta(meta, client.sessionPropagation ? sessions : undefined);
    return add({ id, fnSlug: fullId(called), input: checked(id, called.schema, data), meta: stamped });
  };
}

function checked(id: string, schema: StandardSchemaV1 | undefined, data: unknown): unknown {
  const result = schema?.["~standard"].validate(data);
  if (result === undefined) return data ?? {};
  if (result instanceof Promise) throw new TypeError(`defer("${id}"): its schema has to check without waiting`);
  if (!result.issues) return result.value;
  throw new TypeError(`defer("${id}"): the data breaks its schema: ${result.issues.map(({ message }) => message).join("; ")}`);
}
