/**
 * Compiles a declared JSON Schema (draft 2020-12) to a check, or says why it cannot be used, and where. A schema that is accepted is
 * cheap for every event: the work of a check is bounded by schema-cost.ts, in proportion to the size of the event, and at
 * most a hundred faults are built. `format` is not validated; `$id` and `$schema` have no effect.
 */

import { createRequire } from "node:module";
import { isDeeperThan } from "@inlet/protocol";
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { Check } from "./schema/check.ts";
import { compilePatterns, linkSchema } from "./schema/link-schema.ts";
import { readSchema } from "./schema/read-schema.ts";
import { type SchemaCost, schemaCost } from "./schema/schema-cost.ts";
import { SchemaRefused } from "./schema/schema-fault.ts";
import { isTooDeep, type SchemaFault, SchemaRun } from "./schema/schema-run.ts";

export type { SchemaFault } from "./schema/schema-run.ts";

export const SCHEMA_BYTES_MAX = 65_536;
const DEPTH_MAX = 40;
const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const FAULTS_MAX = 100;
const FORM_OPTIONS = { strict: false, validateFormats: false, logger: false } as const;

export interface CompiledSchema {
  /** The faults of a value, at most a hundred; none: it matches. With `faultsMax` 0, one that says only that it does not. */
  check(data: unknown, faultsMax?: number): SchemaFault[];
  /** How much work a check that only asks for a match takes at most, and how much it takes for a value. */
  cost: SchemaCost;
  workOf(data: unknown): number;
}

export function compileSchema(schema: unknown): CompiledSchema | { fault: string } {
  try {
    const root = readRoot(schema);
    const nodes = readSchema(root, checkForm);
    const patterns = compilePatterns(nodes);
    const cost = schemaCost(nodes, patterns);
    return { ...checksOf(linkSchema(nodes, patterns)), cost };
  } catch (error) {
    if (error instanceof SchemaRefused) return { fault: error.message };
    throw error;
  }
}

function readRoot(schema: unknown): object {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new SchemaRefused("must be a JSON Schema: an object", "#");
  if (isDeeperThan(schema, DEPTH_MAX)) throw new SchemaRefused(`is nested more than ${DEPTH_MAX} deep`, "#");
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES_MAX)
    throw new SchemaRefused(`is larger than ${SCHEMA_BYTES_MAX} bytes`, "#");
  return schema;
}

const require = createRequire(import.meta.url);

/** Validates schemas against the schema of schemas. Loaded with the first schema, so that no start waits for it. */
let forms: Ajv2020 | undefined;

function checkForm(schema: object, place: string): void {
  forms ??= new (require("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js")).Ajv2020(FORM_OPTIONS);
  if (forms.validate(DRAFT, schema)) return;
  const [{ instancePath = "", message = "is not valid" } = {}] = forms.errors ?? [];
  throw new SchemaRefused(`is not a JSON Schema: schema${instancePath} ${message}`, `${place}${instancePath}`);
}

function checksOf(apply: Check): Omit<CompiledSchema, "cost"> {
  const check = (run: SchemaRun, data: unknown, faultsMax: number): SchemaFault[] => {
    try {
      if (apply(data, null, run, null)) return [];
      return faultsMax === 0 ? [NO_MATCH] : run.collect(Math.min(faultsMax, FAULTS_MAX), () => apply(data, null, run, null));
    } catch (error) {
      if (isTooDeep(error)) return [TOO_DEEP];
      throw error;
    }
  };
  return {
    check: (data, faultsMax = FAULTS_MAX) => check(new SchemaRun(), data, faultsMax),
    workOf(data) {
      const run = new SchemaRun();
      check(run, data, 0);
      return run.work;
    },
  };
}

const NO_MATCH: SchemaFault = { path: "", message: "does not match the schema" };
const TOO_DEEP: SchemaFault = { path: "", message: "is nested too deeply to be checked against the schema" };
