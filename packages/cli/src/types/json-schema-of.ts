/** Converts a Standard Schema to JSON Schema, with what its library offers: Standard JSON Schema, a method, or a function of its package. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { CommandFault } from "../command-line/command-fault.ts";

const TARGET = "draft-2020-12";

interface Convertible {
  "~standard": { vendor?: string; jsonSchema?: { input?(options: { target: string }): unknown } };
  toJSONSchema?(options: { target: string; io: string }): unknown;
  toJsonSchema?(): unknown;
}

/** Packages that convert the schemas of a vendor, and the functions to use. */
const CONVERTERS: Readonly<Record<string, { packages: readonly string[]; name: string }>> = {
  zod: { packages: ["zod/v4", "zod"], name: "toJSONSchema" },
  valibot: { packages: ["@valibot/to-json-schema"], name: "toJsonSchema" },
};

/** `file` is the module that the schema comes from: packages are resolved from there. */
export async function jsonSchemaOf(eventName: string, schema: unknown, file: string): Promise<Record<string, unknown>> {
  const given = schema as Convertible;
  const { vendor = "unknown library", jsonSchema } = given["~standard"];
  const options = { target: TARGET, io: "input" };
  const converted = await (jsonSchema?.input?.(options) ??
    given.toJSONSchema?.(options) ??
    given.toJsonSchema?.() ??
    (await convert(vendor, schema, file)));
  if (typeof converted !== "object" || converted === null)
    throw new CommandFault(
      `The schema of "${eventName}" (${vendor}) cannot be written as JSON Schema. Its library must support that: zod 4, arktype, or valibot with @valibot/to-json-schema.`,
    );
  const { "~standard": _, ...plain } = converted as Record<string, unknown>;
  return plain;
}

async function convert(vendor: string, schema: unknown, file: string): Promise<unknown> {
  const { packages = [], name = "" } = CONVERTERS[vendor] ?? {};
  for (const wanted of packages) {
    const module = await load(wanted, file);
    const converter = module?.[name];
    try {
      if (typeof converter === "function") return converter(schema, { target: TARGET, io: "input" });
    } catch {
      // A schema of an older major version of the library, which this function does not support.
    }
  }
  return null;
}

async function load(wanted: string, file: string): Promise<Record<string, unknown> | null> {
  try {
    return (await import(pathToFileURL(createRequire(file).resolve(wanted)).href)) as Record<string, unknown>;
  } catch {
    return null;
  }
}
