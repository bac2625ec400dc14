/** Who may call the REST API, and which environment a call is about. */

import { environmentNamed } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Environment, Key } from "../store/contract/index.ts";
import { RestRefusal } from "./rest-errors.ts";

export interface ApiDirectory {
  environmentNamed(name: string): Environment | undefined;
  key(kind: "api", text: string): Key | null;
}

export interface AccessRules {
  directory: ApiDirectory;
  /** A dev server asks nobody for a key. */
  open: boolean;
  defaultEnvironment: string;
}

const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

export function registerAccess(app: FastifyInstance, rules: AccessRules): void {
  if (rules.open) return;
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.about === "anyone") return;
    const role = roleOf(rules.directory, request.headers.authorization);
    if (role === "read" && !READING_METHODS.has(request.method)) {
      throw new RestRefusal("role_forbidden", "This API key has the role read, which allows GET requests only.");
    }
  });
}

/** The environment named by the header, or the default one. Archived ones can still be read. */
export function environmentOf({ directory, defaultEnvironment }: AccessRules, request: FastifyRequest): Environment {
  const name = environmentNamed(request.headers) ?? defaultEnvironment;
  const environment = directory.environmentNamed(name);
  if (!environment) throw new RestRefusal("environment_not_found", `There is no environment "${name}".`);
  return environment;
}

function roleOf(directory: ApiDirectory, authorization: string | undefined): Key["role"] {
  const text = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!text) throw new RestRefusal("api_key_missing", "The header Authorization: Bearer <API key> is missing.");
  const key = directory.key("api", text);
  if (!key) throw new RestRefusal("api_key_invalid", "This API key is unknown or was revoked.");
  return key.role;
}
