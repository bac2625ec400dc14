/** Names with all their values, in order: form fields and query parameters. Any name is allowed, including `__proto__`. */

export type FieldLists = Record<string, string[]>;

export function newFieldLists(): FieldLists {
  return Object.create(null);
}

export function addField(fields: FieldLists, name: string, value: string): void {
  const values = fields[name];
  if (values) values.push(value);
  else fields[name] = [value];
}

/** Reads a form body: `a=1&a=2&b=`. */
export function parseForm(text: string): FieldLists {
  const fields = newFieldLists();
  // URLSearchParams strips a leading question mark; here it belongs to the first name.
  for (const [name, value] of new URLSearchParams(`&${text}`)) addField(fields, name, value);
  return fields;
}

/** Reads the query of a request, with or without its question mark. */
export function parseQuery(query: string): FieldLists {
  return parseForm(query.startsWith("?") ? query.slice(1) : query);
}
