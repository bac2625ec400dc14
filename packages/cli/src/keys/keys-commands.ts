/** `inlet keys …`: a key is shown once, when it is created. */

import type { AcceptList } from "@inlet/protocol";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { CREATE_FLAGS, LIST_FLAGS } from "./keys-flags.ts";

interface Key {
  id: string;
  kind: string;
  name: string;
  prefix: string;
  environment?: string;
  role?: string;
  environments?: string[] | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  createdAt: string;
  revokedAt: string | null;
}

export async function listKeys({ options, io }: Call<typeof LIST_FLAGS>): Promise<CommandResult> {
  const { items, next } = await createRestClient(options).list<Key>({ path: "/keys", query: { kind: options.kind } });
  const rows = items.map((key) => [
    key.id,
    key.kind,
    key.name,
    `${key.prefix}…`,
    key.environment ?? null,
    key.role ?? null,
    key.createdAt,
    restrictions(key),
  ]);
  const headings = ["ID", "KIND", "NAME", "KEY", "ENVIRONMENT", "ROLE", "CREATED", "RESTRICTED TO"];
  return listResult({ headings, rows, empty: "No keys." }, items, next, io);
}

/** Null for none. */
function restrictions({ environments, eventNames, ips }: Key): string | null {
  const parts = [
    ...(environments ? [`environments ${environments.join(", ")}`] : []),
    ...(eventNames ? [`names ${listed(eventNames)}`] : []),
    ...(ips ? [`addresses ${listed(ips)}`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : null;
}

function listed({ mode, list }: AcceptList): string {
  const values = list.length > 0 ? list.join(", ") : "none";
  return mode === "allow" ? values : `all but ${values}`;
}

export async function createKey({ options, names, io }: Call<typeof CREATE_FLAGS>): Promise<CommandResult> {
  const { kind, role, onlyEnv, allowName, allowIp, json } = options;
  const body = {
    kind,
    name: names[0],
    ...(role !== null && { role }),
    ...(onlyEnv.length > 0 && { environments: onlyEnv }),
    ...(allowName.length > 0 && { eventNames: { mode: "allow", list: allowName } }),
    ...(allowIp.length > 0 && { ips: { mode: "allow", list: allowIp } }),
  };
  const made = await createRestClient(options).data<Key & { key: string }>({ method: "POST", path: "/keys", body });
  const where = made.environment ? ` of ${made.environment}` : "";
  if (!json) io.err.write(`Created the ${made.kind} key ${made.name}${where} (${made.id}). It is shown only once:\n`);
  return { exitCode: EXIT.ok, text: made.key, json: made };
}

export async function revokeKey({ options, names }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const path = `/keys/${encodeURIComponent(names[0] as string)}`;
  const revoked = await createRestClient(options).data<Key>({ method: "DELETE", path });
  return { exitCode: EXIT.ok, text: `Revoked the ${revoked.kind} key ${revoked.name} (${revoked.id}).`, json: revoked };
}
