/** The file that `inlet types` writes: a type for each event type, in the form that an SDK expects. Deterministic for the same catalogue. */

import { identifier, type ShapeFields, typeOfSchema, typeOfShape } from "./type-text.ts";

export const SDKS = ["inlet", "inngest-v3", "inngest-v4"] as const;
export type SdkName = (typeof SDKS)[number];

/** As REST shows it. */
export interface CataloguedType {
  name: string;
  schema: unknown;
  description: string | null;
  shape: (ShapeFields & { samples: number }) | null;
}

export function typesFile(types: readonly CataloguedType[], sdk: SdkName): string {
  const sorted = types.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const names = distinctNames(sorted.map(({ name }) => name));
  const declarations = sorted.map((type, index) => declaration(type, names[index] as string));
  const entries = sorted.map(({ name }, index) => ({ name, type: names[index] as string }));
  return `${["// Written by `inlet types`. Do not edit it: run the command again.", ...IMPORTS[sdk], "", ...declarations, ...ENDINGS[sdk](entries)].join("\n")}\n`;
}

function declaration({ name, schema, description, shape }: CataloguedType, typeName: string): string {
  const { text, definitions } = schema
    ? typeOfSchema(schema, typeName)
    : { text: shape ? typeOfShape(shape) : "{ [key: string]: unknown }", definitions: new Map<string, string>() };
  const origin = schema ? "declared" : shape ? "inferred from traffic" : "not declared, and not seen";
  const about = [`\`${name}\`: ${origin}.`, ...(description ? [description] : [])].join(" ").replaceAll("*/", "* /").replace(/\s+/g, " ");
  const lines = [`/** ${about} */`, `export type ${typeName} = ${text};`];
  for (const [definition, type] of definitions) lines.push(`export type ${definition} = ${type};`);
  return `${lines.join("\n")}\n`;
}

interface Entry {
  name: string;
  type: string;
}

const IMPORTS: Readonly<Record<SdkName, readonly string[]>> = {
  inlet: [],
  "inngest-v3": ['import { EventSchemas } from "inngest";'],
  "inngest-v4": ['import { eventType, staticSchema } from "inngest";'],
};

const ENDINGS: Readonly<Record<SdkName, (entries: readonly Entry[]) => string[]>> = {
  inlet: (entries) => [
    "/** Types only: data is not checked at run time. */",
    "function typed<Data>() {",
    "  const validate = (value: unknown) => ({ value: value as Data });",
    '  return { "~standard": { version: 1, vendor: "inlet-types", validate, types: undefined as { input: Data; output: Data } | undefined } } as const;',
    "}",
    "",
    "/** For `new Inlet({ id, events })`. */",
    "export const events = {",
    ...entries.map(({ name, type }) => `  ${JSON.stringify(name)}: typed<${type}>(),`),
    "};",
  ],
  "inngest-v3": (entries) => [
    "export type Events = {",
    ...entries.map(({ name, type }) => `  ${JSON.stringify(name)}: { data: ${type} };`),
    "};",
    "",
    "/** For `new Inngest({ id, schemas })`. */",
    "export const schemas = new EventSchemas().fromRecord<Events>();",
  ],
  "inngest-v4": (entries) => [
    '/** For `createFunction({ id, triggers: [events["…"]] }, …)` and `send(events["…"].create(…))`. */',
    "export const events = {",
    ...entries.map(
      ({ name, type }) => `  ${JSON.stringify(name)}: eventType(${JSON.stringify(name)}, { schema: staticSchema<${type}>() }),`,
    ),
    "};",
  ],
};

/** Two names may have the same letters and digits, or those of what the file itself uses. */
function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>(["EventSchemas", "Events", "Array"]);
  return names.map((name) => {
    const wanted = identifier(name);
    let own = wanted;
    for (let n = 2; taken.has(own); n++) own = `${wanted}${n}`;
    taken.add(own);
    return own;
  });
}
