/** What API keys allow, in files. A key that is missing is created; its text is never in a file of the folder. */

import type { RestClient } from "../../rest/rest-client.ts";
import type { NamedKind, ServerObject } from "./named-object.ts";
import type { NewKey, NewKeys } from "./new-keys.ts";

export const API_KEY_DEFAULTS = { role: null, environments: null } as const;

export interface ServerApiKey extends ServerObject {
  /** Its first characters. */
  prefix: string;
}

interface ServerKey {
  id: string;
  name: string;
  prefix: string;
  role: string;
  environments: string[] | null;
}

export function apiKeys(rest: RestClient, home: string, newKeys: NewKeys): NamedKind {
  const pathOf = ({ id }: ServerObject) => `/keys/${encodeURIComponent(id as string)}`;
  return {
    section: "apiKeys",
    defaults: API_KEY_DEFAULTS,
    comparable(field, value) {
      if (field === "role") return value === "read" ? "viewer" : value;
      return Array.isArray(value) ? value.toSorted() : value;
    },
    check(step) {
      if (step.action === "create") newKeys.check(`${step.mine.at}: "${step.mine.name}" is created with a new API key`);
    },
    async create({ name }, fields) {
      const key = await rest.data<NewKey>({ method: "POST", path: "/keys", env: home, body: { kind: "api", name, ...fields } });
      return newKeys.write([key]);
    },
    async change(_, theirs, fields) {
      await rest.call({ method: "PUT", path: pathOf(theirs), env: home, body: fields });
    },
    async remove(theirs) {
      await rest.call({ method: "DELETE", path: pathOf(theirs), env: home });
    },
  };
}

/** Those that the caller may see. */
export async function listApiKeys(rest: RestClient, home: string): Promise<ServerApiKey[]> {
  const { items } = await rest.list<ServerKey>({ path: "/keys", query: { kind: "api" }, env: home });
  return items.map(({ id, name, prefix, role, environments }) => ({ environment: null, name, id, prefix, fields: { role, environments } }));
}
