/** Converts a Standard Schema to JSON Schema of its input, with what its library offers: Standard JSON Schema, a method, or a function of its package. */

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { CommandFault } from "../command-line/command-fault.ts";
import { zodOptions } from "./zod-options.ts";

const TARGET = "draft-2020-12";

interface Convertible {
  "~standard": { vendor?: string; jsonSchema?: { input?(options: object): unknown } };
  toJSONSchema?(options: object): unknown;
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
  if (vendor === "zod" && !("_zod" in given))
    throw new CommandFault(
      `The schema of "${eventName}" is made with zod 3, which cannot be written as JSON Schema. Use zod 4, or import it from "zod/v4".`,
    );
  const { options, unfit } = vendor === "zod" ? zodOptions(TARGET) : { options: { target: TARGET, typeMode: "input" }, unfit: [] };
  const ways = [
    () => given.toJSONSchema?.(options),
    // A schema of zod is converted by zod's own function, which takes the options.
    () => (vendor === "zod" ? undefined : (jsonSchema?.input?.(options) ?? given.toJsonSchema?.())),
    () => convert(vendor, schema, file, options),
    () => jsonSchema?.input?.(options),
  ];
  let reason: string | null = null;
  for (const way of ways) {
    unfit.length = 0;
    try {
      const converted = await way();
      if (typeof converted !== "object" || converted === null) continue;
      if (unfit.length > 0) throw new CommandFault(unfit.map((field) => `The schema of "${eventName}": ${field}`));
      const { "~standard": _, ...plain } = converted as Record<string, unknown>;
      return plain;
    } catch (error) {
      if (error instanceof CommandFault) throw error;
      reason ??= (error as Error).message;
    }
  }
  const advice = reason ?? "its library must support that: zod 4, arktype, or valibot with @valibot/to-json-schema";
  throw new CommandFault(`The schema of "${eventName}" (${vendor}) cannot be written as JSON Schema: ${advice}.`);
}

async function convert(vendor: string, schema: unknown, file: string, options: object): Promise<unknown> {
  const { packages = [], name = "" } = CONVERTERS[vendor] ?? {};
  let fault: unknown = null;
  for (const wanted of packages) {
    const converter = (await load(wanted, file))?.[name];
    try {
      if (typeof converter === "function") return converter(schema, options);
    } catch (error) {
      // A schema of another copy of the library, or one that cannot be converted.
      fault ??= error;
    }
  }
  if (fault) throw fault;
  return null;
}

async function load(wanted: string, file: string): Promise<Record<string, unknown> | null> {
  try {
    return (await import(pathToFileURL(createRequire(file).resolve(wanted)).href)) as Record<string, unknown>;
  } catch {
    return null;
  }
}
