/** `inlet types`, `inlet types check`, `inlet types push`. */

import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { type Connection, createRestClient } from "../rest/rest-client.ts";
import { jsonSchemaOf } from "./json-schema-of.ts";
import { type CataloguedType, type SdkName, typesFile } from "./types-file.ts";
import type { PUSH_FLAGS, TYPES_FLAGS } from "./types-flags.ts";

export async function writeTypes({ options }: Call<typeof TYPES_FLAGS>): Promise<CommandResult> {
  const types = await readCatalogue(options);
  const text = typesFile(types, options.sdk as SdkName);
  const { out } = options;
  if (out === "-") return { exitCode: EXIT.ok, text: text.trimEnd(), json: { text } };
  await writeFile(out, text);
  return { exitCode: EXIT.ok, text: `Wrote ${types.length} event types to ${out}.`, json: { out, types: types.length } };
}

export async function checkTypes({ options }: Call<typeof TYPES_FLAGS>): Promise<CommandResult> {
  const { out } = options;
  const text = typesFile(await readCatalogue(options), options.sdk as SdkName);
  const kept = await readFile(out, "utf8").catch(() => null);
  const isCurrent = kept === text;
  const command = `inlet types --sdk ${options.sdk} --out ${out}`;
  const report = isCurrent
    ? `${out} is up to date.`
    : kept === null
      ? `${out} does not exist. Run "${command}".`
      : `${out} is out of date. Run "${command}".`;
  return { exitCode: isCurrent ? EXIT.ok : EXIT.failed, text: report, json: { out, isCurrent } };
}

export async function pushTypes({ options, names }: Call<typeof PUSH_FLAGS>): Promise<CommandResult> {
  const file = resolve(names[0] ?? "");
  const schemas = await schemasIn(file);
  const rest = createRestClient(options);
  const mode = options.mode === null ? {} : { mode: options.mode };
  const converted = await Promise.all(
    [...schemas].map(async ([name, schema]) => ({ name, schema: await jsonSchemaOf(name, schema, file) })),
  );
  for (const { name, schema } of converted) {
    await rest.call({ method: "PUT", path: `/event-types/${encodeURIComponent(name)}`, body: { schema, ...mode } });
  }
  const pushed = converted.map(({ name }) => name);
  return { exitCode: EXIT.ok, text: `Declared ${pushed.length} event types: ${pushed.join(", ")}.`, json: { pushed } };
}

/** Every event type that is declared or was seen, except for internal ones. */
async function readCatalogue(connection: Connection): Promise<CataloguedType[]> {
  const rest = createRestClient(connection);
  const { items: declared } = await rest.list<{ name: string; schema: unknown }>({ path: "/event-schemas" });
  const { items: seen } = await rest.list<{ name: string }>({ path: "/event-types" });
  const names = [...new Set([...declared.filter(({ schema }) => schema !== null), ...seen].map(({ name }) => name))];
  const own = names.filter((name) => !/^(?:inlet|inngest)\//i.test(name));
  const types: CataloguedType[] = [];
  for (const name of own) types.push(await rest.data<CataloguedType>({ path: `/event-types/${encodeURIComponent(name)}` }));
  return types;
}

/** The Standard Schemas of every client that a module exports, or of the map that it exports as `events`. */
async function schemasIn(path: string): Promise<Map<string, unknown>> {
  const module = (await import(pathToFileURL(path).href).catch((error: Error) => {
    throw new CommandFault(`${path} could not be loaded: ${error.message}`);
  })) as Record<string, unknown>;
  const found = new Map<string, unknown>();
  for (const [name, exported] of Object.entries(module)) {
    const schemas = name === "events" ? exported : (exported as { schemas?: unknown } | null)?.schemas;
    if (typeof schemas === "object" && schemas !== null)
      for (const [event, schema] of Object.entries(schemas)) if (isStandardSchema(schema)) found.set(event, schema);
  }
  if (found.size === 0)
    throw new CommandFault(`${path} exports neither a client with \`events\` nor a map \`events\` of Standard Schemas.`);
  return found;
}

function isStandardSchema(value: unknown): boolean {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
