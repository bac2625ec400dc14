/** Derives an initial JSON Schema from the inferred shape: fields that every event has are required. */

import type { EventShape } from "../api/types.ts";

interface Branch {
  types: string[];
  isRequired: boolean;
  children: Map<string, Branch>;
}

export function schemaOfShape(shape: EventShape | null): string {
  const root: Branch = { types: ["object"], isRequired: true, children: new Map() };
  for (const { path, frequency, types } of shape?.fields ?? []) {
    const parts = [...path.matchAll(/"(?:[^"\\]|\\.)*"|\[\]|[^.[\]"]+/g)].map(([part]) => (part.startsWith('"') ? JSON.parse(part) : part));
    let at = root;
    for (const part of parts as string[]) {
      const next: Branch = at.children.get(part) ?? { types: [], isRequired: false, children: new Map() };
      at.children.set(part, next);
      at = next;
    }
    at.types = types.map(({ type }) => type);
    at.isRequired = frequency === 1;
  }
  return JSON.stringify(schemaOf(root), null, 2);
}

function schemaOf({ types, children }: Branch): object {
  const fields = [...children].filter(([key]) => key !== "[]" && key !== "*");
  const required = fields.filter(([, { isRequired }]) => isRequired).map(([key]) => key);
  const [items, others] = ["[]", "*"].map((key) => children.get(key));
  const known = types.filter((type) => type !== "integer" || !types.includes("number"));
  return {
    ...(known.length > 0 && { type: known.length === 1 ? known[0] : known }),
    ...(required.length > 0 && { required }),
    ...(fields.length > 0 && { properties: Object.fromEntries(fields.map(([key, branch]) => [key, schemaOf(branch)])) }),
    ...(others && { additionalProperties: schemaOf(others) }),
    ...(items && { items: schemaOf(items) }),
  };
}
