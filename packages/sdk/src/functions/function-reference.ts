/** A function of another app, by its name, with the types that `step.invoke` checks. */

import type { OpenData } from "../events/event-types.ts";
import type { InferInput, InferOutput, StandardSchemaV1 } from "../events/standard-schema.ts";
import { checkId } from "./function-config.ts";
import type { InletFunction } from "./inlet-function.ts";

/** Like the function itself: `Result` is what it returns, `Data` what it is invoked with. */
export interface FunctionReference<Result = unknown, Data = unknown> {
  readonly appId: string;
  readonly id: string;
  /** Of `data`, if given: it is checked before the function is invoked. */
  readonly schema: StandardSchemaV1 | undefined;
  /** Types only: never set. */
  readonly types?: { result: Result; data: Data };
}

interface ReferenceOptions {
  /** The id of the app that has the function. */
  appId: string;
  /** The id of the function within that app. */
  id: string;
}

interface SchemaOptions<Data, Result> extends ReferenceOptions {
  /** A Standard Schema of the data, for apps whose code is elsewhere. */
  data?: Data;
  /** A Standard Schema of the result: types only. */
  result?: Result;
}

/** With the type of the function: `referenceFunction<typeof tax>({ appId: "billing", id: "tax" })`. */
export function referenceFunction<Fn extends InletFunction>(options: ReferenceOptions): ReferenceTo<Fn>;
/** With schemas. */
export function referenceFunction<
  Data extends StandardSchemaV1 | undefined = undefined,
  Result extends StandardSchemaV1 | undefined = undefined,
>(
  options: SchemaOptions<Data, Result>,
): FunctionReference<
  Result extends StandardSchemaV1 ? InferOutput<Result> : unknown,
  Data extends StandardSchemaV1 ? InferInput<Data> : OpenData
>;
export function referenceFunction({ appId, id, data }: SchemaOptions<StandardSchemaV1 | undefined, unknown>): FunctionReference {
  checkId(appId, "app");
  checkId(id, "function");
  return { appId, id, schema: data };
}

type ReferenceTo<Fn> = Fn extends InletFunction<infer Result, infer Data> ? FunctionReference<Result, Data> : never;

export function isReference(called: object): called is FunctionReference {
  return "appId" in called;
}
