/**
 * How zod converts a schema. A field that is coerced (`z.coerce.date()`) takes any JSON value, and is left open. A field that no JSON value
 * fits (`z.date()`) is collected with advice, because every event would break the schema.
 */

interface Visited {
  zodSchema: { _zod?: { def?: { type?: string; coerce?: boolean } } };
  path?: readonly (string | number)[];
}

const ADVICE: Readonly<Record<string, string>> = {
  date: "is a date, which JSON cannot contain. Use z.coerce.date() or z.iso.datetime()",
  bigint: "is a bigint, which JSON cannot contain. Use z.coerce.bigint() or a number",
  map: "is a Map, which JSON cannot contain. Use z.record()",
  set: "is a Set, which JSON cannot contain. Use z.array()",
  symbol: "is a symbol, which JSON cannot contain",
};

export interface ZodOptions {
  options: object;
  /** One sentence for each field that no JSON value fits, once converted. */
  unfit: string[];
}

export function zodOptions(target: string): ZodOptions {
  const unfit: string[] = [];
  const override = ({ zodSchema, path = [] }: Visited) => {
    const { type = "", coerce = false } = zodSchema._zod?.def ?? {};
    const advice = coerce ? undefined : ADVICE[type];
    if (advice) unfit.push(`${fieldOf(path)} ${advice}.`);
  };
  return { options: { target, io: "input", unrepresentable: "any", override }, unfit };
}

/** `["properties", "items", "items"]` is `data.items[]`. */
function fieldOf(path: readonly (string | number)[]): string {
  let field = "data";
  for (let at = 0; at < path.length; at++) {
    if (path[at] === "properties") field += `.${path[++at]}`;
    else if (path[at] === "items" || path[at] === "additionalProperties") field += "[]";
  }
  return field;
}
